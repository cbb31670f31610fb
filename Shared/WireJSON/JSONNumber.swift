#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A number as written, so that integers keep all digits, also beyond 2^53.
public struct JSONNumber: Sendable, Hashable {
  /// The number as JSON writes it.
  public let text: String

  /// `text` must be a JSON number, as the reader has checked.
  init(checked text: String) { self.text = text }

  public init(_ value: some BinaryInteger) {
    // `Int64` has a faster conversion than integers in general.
    text = Int64(exactly: value).map { $0.description } ?? String(value)
  }

  /// Nil for values that JSON cannot represent (NaN, infinities).
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    if let whole = Int64(exactly: value) { text = String(whole) } else { text = "\(value)" }
  }

  /// True if the number is written without fraction and exponent.
  public var isPlainInteger: Bool { text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (48...57).contains($0) } }

  /// The value, if it is a plain integer that fits.
  public var int64: Int64? { Int64(text) }
  public var uint64: UInt64? { UInt64(text) }
  public var double: Double { Double(text) ?? .nan }
}
