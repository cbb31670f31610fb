#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A number as it is written, so that an integer beyond 2^53 keeps all its digits.
public struct JSONNumber: Sendable, Hashable {
  /// The number's JSON text.
  public let text: String

  /// `text` must be a JSON number. ``JSONReader`` has checked that it is.
  init(checked text: String) { self.text = text }

  /// The decimal digits of an integer.
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

  /// The value; nil unless it is a whole number that fits. `5.0` and `5e2` are whole numbers too, and every digit counts.
  public var int64: Int64? { Int64(text) ?? Int64(wholeNumber: text) }
  /// Like ``int64``, for a number that is not negative.
  public var uint64: UInt64? { UInt64(text) ?? WholeNumber(text)?.converted(to: UInt64.self) }
  /// The nearest double; infinite for a number that is too large.
  public var double: Double { Double(text) ?? .nan }
}
