/// The crowd anonymity tier of a postback (Receiving postbacks in multiple conversion windows).
///
/// A postback does not contain the tier; this is the lowest one in which its fields are possible.
public struct PrivacyTier: Sendable, Hashable {
  /// 0–3: the lowest tier in which Apple sends these fields.
  public let tierAtLeast: Int
  /// Fields that were withheld or shortened (`source-identifier`) for privacy; a missing conversion value may also never have been set.
  public let withheld: [String]

  struct Names {
    var source: String
    var marketplace = "marketplace-identifier"
  }

  /// - Parameter hasMarketplace: nil if the framework has no such field.
  init(
    windowIndex: Int, isWinning: Bool, sourceDigits: Int, hasSource: Bool, hasCountry: Bool, hasFineValue: Bool,
    hasCoarseValue: Bool, hasMarketplace: Bool?, names: Names
  ) {
    let first = windowIndex == 0
    // Apple sends a fine value only in the first window of a winning ad. It is not signed, so a sender may have added it anywhere else.
    let hasFineValue = hasFineValue && first && isWinning
    tierAtLeast =
      if hasSource || hasCountry { 3 } else if hasFineValue || sourceDigits > 2 { 2 }  // Two digits may come in any tier.
      else if hasCoarseValue || hasMarketplace == true || !first { 1 } else { 0 }
    var withheld: [String] = []
    if first, sourceDigits < 4 { withheld.append("source-identifier") }
    if hasMarketplace == false { withheld.append(names.marketplace) }
    // A postback that did not win never has these fields, and later windows never have all of them, whatever the tier.
    if isWinning {
      if first, !hasSource { withheld.append(names.source) }
      if first, !hasFineValue { withheld.append("conversion-value") }
      if !hasFineValue, !hasCoarseValue { withheld.append("coarse-conversion-value") }
      if !hasSource, !hasCountry { withheld.append("country-code") }
    }
    self.withheld = withheld
  }
}
