import Cryptography
import Traces

/// `X-Request-Id`: the caller's if it is valid, otherwise a new one.
public enum RequestID {
  static func usable(_ text: String?) -> String {
    if let text, (1...128).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) { return text }
    return RandomBytes.uuid()
  }

  /// The span attribute, only for ids that were made here: a sender's id may contain anything, including a device identifier.
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
