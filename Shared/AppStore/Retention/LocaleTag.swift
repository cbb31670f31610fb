/// A locale such as `en-US` or `zh-Hant-HK`: a language and what narrows it. `_` and `-`, and the case of letters, make no difference.
public struct LocaleTag: Sendable, Hashable, CustomStringConvertible {
  /// Lower case, parts joined by hyphens.
  public let description: String

  /// The longest one, in bytes.
  private static let longest = 64

  /// Nil for what is no locale: parts of letters and digits, the first of letters alone.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.longest else { return nil }
    let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
    let isRight = parts.enumerated().allSatisfy { index, part in
      !part.isEmpty && part.utf8.count <= 8
        && part.utf8.allSatisfy { (97...122).contains($0 | 0x20) || (index > 0 && (48...57).contains($0)) }
    }
    guard isRight else { return nil }
    description = parts.map { $0.lowercased() }.joined(separator: "-")
  }

  private init(known description: String) { self.description = description }

  /// Itself and what it narrows, the narrowest first: `zh-hant-hk`, `zh-hant`, `zh`.
  public var widening: [LocaleTag] {
    var found = [self]
    var rest = description[...]
    while let hyphen = rest.lastIndex(of: "-") {
      rest = rest[..<hyphen]
      found.append(LocaleTag(known: String(rest)))
    }
    return found
  }

  /// Whether this is the other or narrows it: `en-us` is within `en`.
  public func isWithin(_ wider: LocaleTag) -> Bool {
    description == wider.description || description.utf8.starts(with: Array((wider.description + "-").utf8))
  }
}
