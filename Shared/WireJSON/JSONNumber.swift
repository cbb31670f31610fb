#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A number as its digits stood in the text: integers keep every digit, also beyond 2^53.
public struct JSONNumber: Sendable, Hashable {
  /// The number as JSON writes it.
  public let text: String

  /// Trusts that `text` is a JSON number; the reader checks it before.
  init(checked text: String) { self.text = text }

  public init(_ value: some BinaryInteger) { text = String(value) }

  /// Nil for values JSON cannot write (NaN, infinities).
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    if let whole = Int64(exactly: value) { text = String(whole) } else { text = "\(value)" }
  }

  /// Written with digits only (no fraction, no exponent).
  public var isPlainInteger: Bool { text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || (48...57).contains($0) } }

  /// The value, when it is a plain integer that fits.
  public var int64: Int64? { Int64(text) }
  public var uint64: UInt64? { UInt64(text) }
  public var double: Double { Double(text) ?? .nan }
}
