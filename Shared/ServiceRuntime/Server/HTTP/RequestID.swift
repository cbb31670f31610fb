import Cryptography
import Traces

/// `X-Request-Id`: the caller's when it is usable, a new one otherwise.
public enum RequestID {
  static func usable(_ text: String?) -> String {
    if let text, (1...128).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) { return text }
    return RandomBytes.uuid()
  }

  /// As a span tells it, where it was made here: a sender may give anything, what names a device too.
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
