/// A locale such as `en-US` or `zh-Hant-HK`: a language and its subtags. `_` means the same as `-`, and case is ignored.
public struct LocaleTag: Sendable, Hashable, CustomStringConvertible {
  /// The tag in lower case with hyphens.
  public let description: String

  /// The longest tag, bytes.
  private static let maxBytes = 64

  /// Nil for a text that is not a locale: parts of 1 to 8 letters and digits, the first one of letters only.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.maxBytes else { return nil }
    let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
    let areSubtags = parts.enumerated().allSatisfy { index, part in
      !part.isEmpty && part.utf8.count <= 8
        && part.utf8.allSatisfy { (97...122).contains($0 | 0x20) || (index > 0 && (48...57).contains($0)) }
    }
    guard areSubtags else { return nil }
    description = parts.map { $0.lowercased() }.joined(separator: "-")
  }

  /// A tag from a text that is already in the format of ``description``.
  private init(known description: String) { self.description = description }

  /// This tag and its prefixes, the longest first: `zh-hant-hk`, `zh-hant`, `zh`.
  public var selfAndPrefixes: [LocaleTag] {
    var found = [self]
    var rest = description[...]
    while let hyphen = rest.lastIndex(of: "-") {
      rest = rest[..<hyphen]
      found.append(LocaleTag(known: String(rest)))
    }
    return found
  }

  /// True if the other tag equals this one or is a prefix of it. For example, `en-us` is within `en`.
  public func isWithin(_ wider: LocaleTag) -> Bool {
    description == wider.description || description.utf8.starts(with: Array((wider.description + "-").utf8))
  }
}
