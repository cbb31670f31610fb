/// Shortens everything in free text, such as error messages, that might be a secret, a token or an advertising identifier.
enum Redaction {
  /// The greatest size of a word that is shown in full if it contains a digit, bytes. A word without digits may be twice as long, because
  /// compound names such as `notification-recovery-service` are no secrets.
  private static let maxWordBytes = 24
  /// The number of characters that remain of a shortened word.
  private static let shownCharacters = 6

  /// The text with shortened words. Line breaks and control characters become spaces.
  static func text(_ text: String) -> String {
    var result = ""
    var word = ""
    for character in text {
      if isPart(character) {
        word.append(character)
      } else {
        result += shortened(word)
        word = ""
        result.append(
          character.isNewline || character.unicodeScalars.contains { $0.properties.generalCategory == .control } ? " " : character)
      }
    }
    return result + shortened(word)
  }

  /// True for the characters of tokens, URLs and identifiers, which form words.
  private static func isPart(_ character: Character) -> Bool {
    guard let byte = character.asciiValue else { return false }
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
      UInt8(ascii: "."):
      return true
    default: return false
    }
  }

  private static func shortened(_ word: String) -> String {
    let hasDigit = word.utf8.contains { (48...57).contains($0) }
    guard isUUID(word) || word.utf8.count > maxWordBytes && (hasDigit || word.utf8.count > 2 * maxWordBytes) else { return word }
    return word.prefix(shownCharacters) + "…"
  }

  /// True for a UUID, which is the format of advertising identifiers.
  private static func isUUID(_ word: String) -> Bool {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
  }

  /// The scheme, host and port of a URL. The user, the path and the query of an endpoint's URL may contain a secret.
  static func withoutPath(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return "…" }
    let rest = url[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    return url[..<scheme.upperBound] + host + (authority.count < rest.count ? "/…" : "")
  }
}
