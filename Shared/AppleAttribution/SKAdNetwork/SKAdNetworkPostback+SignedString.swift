extension SKAdNetworkPostback {
  /// The bytes that Apple signs (Combining parameters for SKAdNetwork 3 postbacks; … previous postback versions).
  ///
  /// An absent source is omitted together with its separator; a source of 0 is signed. Conversion values and the country are never signed.
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
