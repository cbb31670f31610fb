import Cryptography

/// W3C Trace Context: the caller's trace is continued with a span of our own.
///
/// The header is put together when it is asked for: most calls cause nothing elsewhere and never need it.
public struct TraceContext: Sendable {
  private let parent: String?
  private let span: UInt64
  private let trace: (UInt64, UInt64)

  /// A span of the parent's trace when the parent is valid, of a new trace otherwise.
  public init(parent: String?) {
    self.parent = parent
    let words = RandomBytes.words()
    span = words.0 | 1
    trace = (words.1 | 1, words.2)
  }

  /// The `traceparent` of our own span; the same whenever it is asked for.
  public var traceparent: String {
    if let parent, Self.isValid(parent) {
      let parts = parent.split(separator: "-", omittingEmptySubsequences: false)
      return "00-\(parts[1])-\(Hex.encode(span))-\(parts[3])"
    }
    return "00-\(Hex.encode(trace.0))\(Hex.encode(trace.1))-\(Hex.encode(span))-03"
  }

  /// A new `traceparent` below the given one.
  public static func child(of parent: String?) -> String { TraceContext(parent: parent).traceparent }

  /// The trace's id within a `traceparent`.
  public static func traceId(_ traceparent: String) -> String { String(traceparent.dropFirst(3).prefix(32)) }

  static func isValid(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, parts[0] != "ff", parts[0] == "00" ? parts.count == 4 : true else { return false }
    let widths = [2, 32, 16, 2]
    for (part, width) in zip(parts, widths) {
      guard part.utf8.count == width, part.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
        return false
      }
    }
    return parts[1].contains { $0 != "0" } && parts[2].contains { $0 != "0" }
  }

}

/// `X-Request-Id`: the caller's when it is usable, a new one otherwise.
public enum RequestID {
  static func usable(_ text: String?) -> String {
    if let text, (1...128).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) { return text }
    return RandomBytes.uuid()
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }
}
