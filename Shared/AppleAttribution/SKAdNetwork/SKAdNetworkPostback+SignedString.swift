extension SKAdNetworkPostback {
  /// The bytes that Apple signs: the values joined with U+2063 (Combining parameters for SKAdNetwork 3 postbacks; Combining parameters for
  /// previous postback versions).
  ///
  /// A value that the version does not have is nil, so a postback of 1.0 signs only ad network, campaign, app and transaction.
  /// `SKAdNetworkPostback.swift` decides which version has which value: redownload and source app from 2.0 on (2.1 has the same), fidelity type
  /// from 2.2, did-win from 3.0, sequence index from 4.0. The curve of Apple's key is in `ApplePublicKeys.swift`.
  ///
  /// An absent source is left out together with its separator, but a source app of 0 is signed. Conversion values and the country are never
  /// signed.
  public var signedString: [UInt8] {
    var text = SignedText()
    if version.isSigned { text.append(version.rawValue) }
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
}
