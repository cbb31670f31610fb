/// The crowd anonymity tier of a postback (Receiving postbacks in multiple conversion windows). The smaller the crowd of similar
/// conversions, the lower the tier, and the fewer fields Apple sends.
///
/// A postback does not contain its tier. This is the lowest tier in which Apple sends the fields that the postback has.
public struct PrivacyTier: Sendable, Hashable {
  /// The lowest possible tier, 0 to 3.
  public let tierAtLeast: Int
  /// The names of fields that were withheld for privacy, or shortened (`source-identifier`). A missing conversion value may also be one
  /// that the app never set. A value that came and cannot be used was not withheld.
  public let withheld: [String]

  /// The framework's names of fields.
  struct Names {
    var source: String
    var marketplace = "marketplace-identifier"
  }

  /// - Parameter hasMarketplace: nil if the framework has no such field.
  init(
    windowIndex: Int, isWinning: Bool, sourceDigits: Int, hasSource: Bool, hasMarketplace: Bool?, unsigned: UnsignedValues, names: Names
  ) {
    let first = windowIndex == 0
    let (hasCountry, hasCoarseValue) = (unsigned.countryCode != nil, unsigned.coarseConversionValue != nil)
    // Apple sends a fine value only in the first window of a winning ad. It is not signed, so a sender may have added it anywhere else.
    let hasFineValue = unsigned.conversionValue != nil && first && isWinning
    tierAtLeast =
      if hasSource || hasCountry { 3 } else if hasFineValue || sourceDigits > 2 { 2 }  // Two digits are possible in any tier.
      else if hasCoarseValue || hasMarketplace == true || !first { 1 } else { 0 }
    var withheld: [String] = []
    if first, sourceDigits < 4 { withheld.append("source-identifier") }
    if hasMarketplace == false { withheld.append(names.marketplace) }
    // Whatever the tier, a postback that did not win has none of these fields, and a later window has neither a source nor a fine value.
    if isWinning {
      if first, !hasSource { withheld.append(names.source) }
      if first, !hasFineValue { withheld.append("conversion-value") }
      if !hasFineValue, !hasCoarseValue { withheld.append("coarse-conversion-value") }
      if !hasSource, !hasCountry { withheld.append("country-code") }
    }
    self.withheld = unsigned.unusable.isEmpty ? withheld : withheld.filter { !unsigned.unusable.contains($0) }
  }
}
