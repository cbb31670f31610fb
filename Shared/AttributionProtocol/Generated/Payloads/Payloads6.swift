// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// SKAdNetwork postback: the members that a device posts.
public struct SKAdNetworkPostbackPayload: OpenMessage {
  /// Absent means 1.0.
  public var version: String?
  public var adNetworkId: String?
  /// 1 to 100; only in versions up to 3.0.
  public var campaignId: Int32?
  /// Two to four digits, with leading zeros; from version 4.0 on.
  public var sourceIdentifier: String?
  public var transactionId: String?
  /// The advertised app.
  public var appId: Int64?
  public var redownload: Bool?
  /// The app that showed the ad, if the tier of privacy allows it.
  public var sourceAppId: Int64?
  /// The site that showed the ad, if the tier of privacy allows it.
  public var sourceDomain: String?
  /// 0: view-through. 1: StoreKit-rendered or web.
  public var fidelityType: Int32?
  public var didWin: Bool?
  /// 0 to 63. Not signed.
  public var conversionValue: Int32?
  /// low, medium or high. Not signed.
  public var coarseConversionValue: String?
  /// The conversion window: 0, 1 or 2.
  public var postbackSequenceIndex: Int32?
  /// Two letters. Not signed.
  public var countryCode: String?
  public var attributionSignature: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    version: String? = nil,
    adNetworkId: String? = nil,
    campaignId: Int32? = nil,
    sourceIdentifier: String? = nil,
    transactionId: String? = nil,
    appId: Int64? = nil,
    redownload: Bool? = nil,
    sourceAppId: Int64? = nil,
    sourceDomain: String? = nil,
    fidelityType: Int32? = nil,
    didWin: Bool? = nil,
    conversionValue: Int32? = nil,
    coarseConversionValue: String? = nil,
    postbackSequenceIndex: Int32? = nil,
    countryCode: String? = nil,
    attributionSignature: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.version = version
    self.adNetworkId = adNetworkId
    self.campaignId = campaignId
    self.sourceIdentifier = sourceIdentifier
    self.transactionId = transactionId
    self.appId = appId
    self.redownload = redownload
    self.sourceAppId = sourceAppId
    self.sourceDomain = sourceDomain
    self.fidelityType = fidelityType
    self.didWin = didWin
    self.conversionValue = conversionValue
    self.coarseConversionValue = coarseConversionValue
    self.postbackSequenceIndex = postbackSequenceIndex
    self.countryCode = countryCode
    self.attributionSignature = attributionSignature
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "version":
        if let value = OpenValue.string(member.value) {
          version = value
          continue
        }
      case "ad-network-id":
        if let value = OpenValue.string(member.value) {
          adNetworkId = value
          continue
        }
      case "campaign-id":
        if let value = OpenValue.int32(member.value) {
          campaignId = value
          continue
        }
      case "source-identifier":
        if let value = OpenValue.string(member.value) {
          sourceIdentifier = value
          continue
        }
      case "transaction-id":
        if let value = OpenValue.string(member.value) {
          transactionId = value
          continue
        }
      case "app-id":
        if let value = OpenValue.int64(member.value) {
          appId = value
          continue
        }
      case "redownload":
        if let value = OpenValue.bool(member.value) {
          redownload = value
          continue
        }
      case "source-app-id":
        if let value = OpenValue.int64(member.value) {
          sourceAppId = value
          continue
        }
      case "source-domain":
        if let value = OpenValue.string(member.value) {
          sourceDomain = value
          continue
        }
      case "fidelity-type":
        if let value = OpenValue.int32(member.value) {
          fidelityType = value
          continue
        }
      case "did-win":
        if let value = OpenValue.bool(member.value) {
          didWin = value
          continue
        }
      case "conversion-value":
        if let value = OpenValue.int32(member.value) {
          conversionValue = value
          continue
        }
      case "coarse-conversion-value":
        if let value = OpenValue.string(member.value) {
          coarseConversionValue = value
          continue
        }
      case "postback-sequence-index":
        if let value = OpenValue.int32(member.value) {
          postbackSequenceIndex = value
          continue
        }
      case "country-code":
        if let value = OpenValue.string(member.value) {
          countryCode = value
          continue
        }
      case "attribution-signature":
        if let value = OpenValue.string(member.value) {
          attributionSignature = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "version", version.map { .string($0) })
    object.append(new: "ad-network-id", adNetworkId.map { .string($0) })
    object.append(new: "campaign-id", campaignId.map { .integer($0) })
    object.append(new: "source-identifier", sourceIdentifier.map { .string($0) })
    object.append(new: "transaction-id", transactionId.map { .string($0) })
    object.append(new: "app-id", appId.map { .integer($0) })
    object.append(new: "redownload", redownload.map { .bool($0) })
    object.append(new: "source-app-id", sourceAppId.map { .integer($0) })
    object.append(new: "source-domain", sourceDomain.map { .string($0) })
    object.append(new: "fidelity-type", fidelityType.map { .integer($0) })
    object.append(new: "did-win", didWin.map { .bool($0) })
    object.append(new: "conversion-value", conversionValue.map { .integer($0) })
    object.append(new: "coarse-conversion-value", coarseConversionValue.map { .string($0) })
    object.append(new: "postback-sequence-index", postbackSequenceIndex.map { .integer($0) })
    object.append(new: "country-code", countryCode.map { .string($0) })
    object.append(new: "attribution-signature", attributionSignature.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// AdAttributionKit postback: the posted members and the decoded JWS.
public struct AdAttributionKitPostbackPayload: OpenMessage {
  public var jwsString: String?
  /// click or view. Not signed.
  public var adInteractionType: String?
  /// 0 to 63; only in the first window. Not signed.
  public var conversionValue: Int32?
  /// low, medium or high. Not signed.
  public var coarseConversionValue: String?
  /// Two letters; only in the highest tier. Not signed.
  public var countryCode: String?
  /// The payload of the JWS.
  public var payload: AdAttributionKitClaimsPayload?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    jwsString: String? = nil,
    adInteractionType: String? = nil,
    conversionValue: Int32? = nil,
    coarseConversionValue: String? = nil,
    countryCode: String? = nil,
    payload: AdAttributionKitClaimsPayload? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.jwsString = jwsString
    self.adInteractionType = adInteractionType
    self.conversionValue = conversionValue
    self.coarseConversionValue = coarseConversionValue
    self.countryCode = countryCode
    self.payload = payload
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "jws-string":
        if let value = OpenValue.string(member.value) {
          jwsString = value
          continue
        }
      case "ad-interaction-type":
        if let value = OpenValue.string(member.value) {
          adInteractionType = value
          continue
        }
      case "conversion-value":
        if let value = OpenValue.int32(member.value) {
          conversionValue = value
          continue
        }
      case "coarse-conversion-value":
        if let value = OpenValue.string(member.value) {
          coarseConversionValue = value
          continue
        }
      case "country-code":
        if let value = OpenValue.string(member.value) {
          countryCode = value
          continue
        }
      case "payload":
        if let value: AdAttributionKitClaimsPayload = OpenValue.message(member.value) {
          payload = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "jws-string", jwsString.map { .string($0) })
    object.append(new: "ad-interaction-type", adInteractionType.map { .string($0) })
    object.append(new: "conversion-value", conversionValue.map { .integer($0) })
    object.append(new: "coarse-conversion-value", coarseConversionValue.map { .string($0) })
    object.append(new: "country-code", countryCode.map { .string($0) })
    object.append(new: "payload", payload.map { .object($0.object) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// AdAttributionKit postback's JWS: the members of its payload, which Apple signed.
public struct AdAttributionKitClaimsPayload: OpenMessage {
  public var postbackIdentifier: String?
  public var adNetworkIdentifier: String?
  /// The advertised app.
  public var advertisedItemIdentifier: Int64?
  /// The app that showed the ad, if the tier of privacy allows it; 0 in development.
  public var publisherItemIdentifier: Int64?
  /// com.apple.AppStore, or an alternative marketplace's bundle id.
  public var marketplaceIdentifier: String?
  /// app-impression
  public var impressionType: String?
  /// Two to four digits, with leading zeros.
  public var sourceIdentifier: String?
  /// download, redownload or re-engagement.
  public var conversionType: String?
  public var didWin: Bool?
  /// The conversion window: 0, 1 or 2.
  public var postbackSequenceIndex: Int32?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    postbackIdentifier: String? = nil,
    adNetworkIdentifier: String? = nil,
    advertisedItemIdentifier: Int64? = nil,
    publisherItemIdentifier: Int64? = nil,
    marketplaceIdentifier: String? = nil,
    impressionType: String? = nil,
    sourceIdentifier: String? = nil,
    conversionType: String? = nil,
    didWin: Bool? = nil,
    postbackSequenceIndex: Int32? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.postbackIdentifier = postbackIdentifier
    self.adNetworkIdentifier = adNetworkIdentifier
    self.advertisedItemIdentifier = advertisedItemIdentifier
    self.publisherItemIdentifier = publisherItemIdentifier
    self.marketplaceIdentifier = marketplaceIdentifier
    self.impressionType = impressionType
    self.sourceIdentifier = sourceIdentifier
    self.conversionType = conversionType
    self.didWin = didWin
    self.postbackSequenceIndex = postbackSequenceIndex
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "postback-identifier":
        if let value = OpenValue.string(member.value) {
          postbackIdentifier = value
          continue
        }
      case "ad-network-identifier":
        if let value = OpenValue.string(member.value) {
          adNetworkIdentifier = value
          continue
        }
      case "advertised-item-identifier":
        if let value = OpenValue.int64(member.value) {
          advertisedItemIdentifier = value
          continue
        }
      case "publisher-item-identifier":
        if let value = OpenValue.int64(member.value) {
          publisherItemIdentifier = value
          continue
        }
      case "marketplace-identifier":
        if let value = OpenValue.string(member.value) {
          marketplaceIdentifier = value
          continue
        }
      case "impression-type":
        if let value = OpenValue.string(member.value) {
          impressionType = value
          continue
        }
      case "source-identifier":
        if let value = OpenValue.string(member.value) {
          sourceIdentifier = value
          continue
        }
      case "conversion-type":
        if let value = OpenValue.string(member.value) {
          conversionType = value
          continue
        }
      case "did-win":
        if let value = OpenValue.bool(member.value) {
          didWin = value
          continue
        }
      case "postback-sequence-index":
        if let value = OpenValue.int32(member.value) {
          postbackSequenceIndex = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "postback-identifier", postbackIdentifier.map { .string($0) })
    object.append(new: "ad-network-identifier", adNetworkIdentifier.map { .string($0) })
    object.append(new: "advertised-item-identifier", advertisedItemIdentifier.map { .integer($0) })
    object.append(new: "publisher-item-identifier", publisherItemIdentifier.map { .integer($0) })
    object.append(new: "marketplace-identifier", marketplaceIdentifier.map { .string($0) })
    object.append(new: "impression-type", impressionType.map { .string($0) })
    object.append(new: "source-identifier", sourceIdentifier.map { .string($0) })
    object.append(new: "conversion-type", conversionType.map { .string($0) })
    object.append(new: "did-win", didWin.map { .bool($0) })
    object.append(new: "postback-sequence-index", postbackSequenceIndex.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
