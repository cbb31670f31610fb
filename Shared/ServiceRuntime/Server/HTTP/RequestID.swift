import Cryptography
import Traces

/// The id of a request, which is in the response's `X-Request-Id` and in the log.
public enum RequestID {
  /// The caller's id if it has 1 to 128 letters, digits, `.`, `_` or `-`; otherwise a new one.
  static func usable(_ text: String?) -> String {
    if let text, (1...128).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) { return text }
    return RandomBytes.uuid()
  }

  /// The id as a span attribute; none if the sender gave an id, because that may contain anything, such as the identifier of a device.
  static func attribute(_ requestId: String, given: String?) -> [SpanAttribute] {
    given == nil ? [SpanAttribute("attribution.request_id", requestId)] : []
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }
}
