import WireJSON

extension SKAdNetworkPostback {
  /// The bytes Apple signs (Combining parameters for SKAdNetwork 3 postbacks; … previous postback versions).
  ///
  /// A source that is absent is left out with its separator; a present 0 is signed. Conversion values and country never are.
  public var signedString: [UInt8] {
    var text = SignedText()
    if version > .v1_0 { text.append(version.rawValue) }
    text.append(adNetworkId)
    if let sourceIdentifier { text.append(sourceIdentifier) } else if let campaignId { text.append(campaignId) }
    text.append(appId)
    text.append(transactionId)
    if let redownload { text.append(redownload) }
    if let sourceAppId { text.append(sourceAppId) } else if let sourceDomain { text.append(sourceDomain) }
    if let fidelityType { text.append(fidelityType) }
    if let didWin { text.append(didWin) }
    if let postbackSequenceIndex { text.append(postbackSequenceIndex) }
    return text.bytes
  }

  /// The object with every known field in its proper JSON type, under Apple's names, and everything else as it came.
  public var typed: JSONObject {
    var object = JSONObject(raw.members.filter { !$0.value.isNull })
    object["version"] = .string(version.rawValue)
    for (name, value) in [
      ("campaign-id", campaignId.map { Int64($0) }), ("app-id", appId), ("source-app-id", sourceAppId),
      ("fidelity-type", fidelityType.map { Int64($0) }), ("conversion-value", conversionValue.map { Int64($0) }),
      ("postback-sequence-index", postbackSequenceIndex.map { Int64($0) }),
    ] {
      if let value { object[name] = .integer(value) }
    }
    if let redownload { object["redownload"] = .bool(redownload) }
    if let didWin { object["did-win"] = .bool(didWin) }
    return object
  }

  /// The values outside of the signature that are there. Two deliveries of one postback that differ in them conflict.
  public var unsignedValues: JSONObject {
    var object = JSONObject()
    if let conversionValue { object["conversion-value"] = .integer(conversionValue) }
    if let coarseConversionValue { object["coarse-conversion-value"] = .string(coarseConversionValue.rawValue) }
    if let countryCode { object["country-code"] = .string(countryCode) }
    return object
  }

  /// Whether the ad won the conversion.
  public var isWinning: Bool { didWin ?? true }

  /// What privacy left of the postback; 4.0 only, before there are no tiers.
  public var privacy: PrivacyTier? {
    guard version >= .v4_0, let sourceIdentifier, let index = postbackSequenceIndex else { return nil }
    return PrivacyTier(
      windowIndex: index, isWinning: isWinning, sourceDigits: sourceIdentifier.utf8.count,
      hasSource: sourceAppId != nil || sourceDomain != nil, hasCountry: countryCode != nil,
      hasFineValue: conversionValue != nil, hasCoarseValue: coarseConversionValue != nil, hasMarketplace: nil,
      names: PrivacyTier.Names(source: "source-app-id"))
  }

  /// Fields that are absent because of privacy, or because the app set no value: never to be read as zero.
  public var withheld: [String] {
    if let privacy { return privacy.withheld }
    guard version >= .v2_0, isWinning else { return [] }
    return (sourceAppId == nil ? ["source-app-id"] : []) + (conversionValue == nil ? ["conversion-value"] : [])
  }
}
