#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A text that is compared byte for byte.
///
/// Swift's comparison treats canonically equivalent texts as equal, such as the Kelvin sign and K. Names in JSON and identifiers are
/// compared as they are written (RFC 8259 section 8.3).
public struct ExactText: Sendable, Hashable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static func == (a: ExactText, b: ExactText) -> Bool { a.text.isExactly(b.text) }

  public func hash(into hasher: inout Hasher) {
    text.withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension String {
  /// True if both have the same bytes.
  public func isExactly(_ other: String) -> Bool {
    let count = utf8.count
    guard count == other.utf8.count else { return false }
    return withBytes { own in other.withBytes { other in count == 0 || memcmp(own.baseAddress!, other.baseAddress!, count) == 0 } }
  }

  /// The text's bytes without a copy or a retain, which every other access costs.
  @inline(__always)
  func withBytes<Value>(_ read: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
    let span = utf8.span
    return span.withUnsafeBufferPointer { read($0) }
  }
}
