/// Removes from free text, such as error messages, everything that might be a secret, a token or an advertising identifier.
enum Redaction {
  /// The longest word; longer ones, which occur in no language, are removed.
  private static let maxWordBytes = 24
  private static let shown = 6

  static func text(_ text: String) -> String {
    var result = ""
    var word = ""
    for character in text {
      if isPart(character) {
        word.append(character)
      } else {
        result += shortened(word)
        word = ""
        // Line breaks and invisible characters become spaces.
        result.append(
          character.isNewline || character.unicodeScalars.contains { $0.properties.generalCategory == .control } ? " " : character)
      }
    }
    return result + shortened(word)
  }

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
    return word.prefix(shown) + "…"
  }

  /// True for the form of advertising identifiers.
  private static func isUUID(_ word: String) -> Bool {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.allSatisfy(\.isHexDigit) }
  }

  /// The part of a URL that may be shown, because an endpoint's path and query may contain its secret.
  static func address(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return "…" }
    let rest = url[scheme.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    return url[..<scheme.upperBound] + host + (authority.count < rest.count ? "/…" : "")
  }
}
