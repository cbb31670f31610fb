import Cryptography

/// The rules for parameters of the Retention Messaging API that are not in a message's body: identifiers, locales, URLs. Calls of other
/// APIs use the rule for identifiers too.
public enum RetentionParameterRules {
  /// Apple's limit for the URL, characters.
  static let maxURLLength = 256

  /// A required UUID, returned in lower case.
  public static func identifier(_ text: String?, _ field: String) throws(RequestRefusal) -> String {
    guard let text, !text.isEmpty else { throw RequestRefusal(field: field, "is missing") }
    guard UUIDText.isValid(text) else { throw RequestRefusal(field: field, "must be a UUID") }
    return text.lowercased()
  }

  /// A locale's short code: a language of two or three letters, then subtags of letters and digits. Whether the locale exists is left to
  /// Apple.
  public static func locale(_ text: String?) throws(RequestRefusal) -> String {
    guard let text, !text.isEmpty else { throw RequestRefusal(field: "locale", "is missing") }
    let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
    let areSubtags = parts.allSatisfy { part in
      (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) }
    }
    guard text.utf8.count <= 35, areSubtags, let language = parts.first, (2...3).contains(language.utf8.count),
      language.utf8.allSatisfy(isLetter)
    else { throw RequestRefusal(field: "locale", "must be a locale's short code, such as en-US") }
    return text
  }

  /// The URL that Apple calls in real time (RealtimeUrlRequest).
  public static func url(_ text: String?) throws(RequestRefusal) -> String {
    guard let text, !text.isEmpty else { throw RequestRefusal(field: "realtimeUrl", "is missing") }
    guard text.hasPrefix("https://"), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw RequestRefusal(field: "realtimeUrl", "must be a URL that begins with https://")
    }
    let host = text.utf8.dropFirst(8).prefix { !"/?#".utf8.contains($0) }
    guard let first = host.first, first != UInt8(ascii: ":"), !host.contains(UInt8(ascii: "@")), !text.utf8.contains(UInt8(ascii: "#"))
    else {
      throw RequestRefusal(field: "realtimeUrl", "must have a host, and neither a user nor a fragment")
    }
    guard text.count <= maxURLLength else { throw RequestRefusal(field: "realtimeUrl", "is longer than \(maxURLLength) characters") }
    return text
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
