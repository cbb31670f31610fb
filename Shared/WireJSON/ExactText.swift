#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A text that is compared byte for byte.
///
/// Swift compares strings by canonical equivalence: the Kelvin sign equals the letter K. Names in JSON and identifiers must be compared as
/// they are written (RFC 8259, section 8.3).
public struct ExactText: Sendable, Hashable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static func == (a: ExactText, b: ExactText) -> Bool { a.text.isExactly(b.text) }

  public func hash(into hasher: inout Hasher) {
    text.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension String {
  /// True if both texts have the same bytes.
  public func isExactly(_ other: String) -> Bool {
    let count = utf8.count
    guard count == other.utf8.count else { return false }
    return withBytes { own in other.withBytes { other in count == 0 || memcmp(own.baseAddress!, other.baseAddress!, count) == 0 } }
  }

  /// The text with the letters A to Z in lower case. No other character changes, so two texts that differ in more than the case of these
  /// letters still differ.
  public var asciiLowercased: String {
    guard utf8.contains(where: { (65...90).contains($0) }) else { return self }
    return String(decoding: utf8.map { (65...90).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Calls the closure with the text's bytes. Other ways to read them copy or retain the string.
  @inline(__always)
  func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
    let span = utf8.span
    return span.withUnsafeBufferPointer { body($0) }
  }
}
