import Cryptography
import WireJSON

/// An AdAttributionKit postback whose JWS is verified (Identifying the parameters in a postback).
public struct AdAttributionKitPostback: Sendable, Hashable {
  /// The type of a conversion. Unknown values are kept, because Apple may add some.
  public enum ConversionType: Sendable, Hashable {
    case download, redownload, reEngagement
    case other(String)

    init(_ text: String) {
      self =
        switch text {
        case "download": .download
        case "redownload": .redownload
        // Apple's prose also writes it without the hyphen.
        case "re-engagement", "reengagement": .reEngagement
        default: .other(text)
        }
    }
  }

  /// The ad network in postbacks that were made in a device's settings and sent to a URL that was typed in there. ``PostbackVerifier``
  /// accepts them, if a development key signed them, at any ad network's URL.
  static let madeInSettings = "development.adattributionkit"

  /// As written; ``naturalKey`` has it in lower case.
  public let postbackIdentifier: String
  public let adNetworkIdentifier: String
  public let advertisedItemIdentifier: Int64
  /// Highest tier only; 0 in development.
  public let publisherItemIdentifier: Int64?
  public let marketplaceIdentifier: String?
  public let impressionType: String
  /// Two to four digits; text, leading zeros count.
  public let sourceIdentifier: String
  public let conversionType: ConversionType
  public let didWin: Bool
  public let postbackSequenceIndex: Int

  /// `click`, `view` or a newer value; nil is unknown. Not signed.
  public let adInteractionType: String?
  /// 0–63. Not signed. Apple sends it in the first window only; in another one it is kept but has no meaning (``ConversionSchema``).
  public let conversionValue: Int?
  /// Not signed. Never present together with ``conversionValue`` (``PostbackFields``).
  public let coarseConversionValue: CoarseConversionValue?
  /// Not signed.
  public let countryCode: String?

  /// The JWS payload, unchanged.
  public let payload: JSONObject
  /// The body's object, unchanged.
  public let raw: JSONObject

  /// Reads the claims of the payload and the unsigned values of the body, which are never taken from a claim with the same name. Throws
  /// ``PostbackRejection`` `malformed` with the field.
  init(payload: JSONObject, body: JSONObject) throws(PostbackRejection) {
    let claims = PostbackFields(payload)
    postbackIdentifier = try claims.string("postback-identifier")
    adNetworkIdentifier = try claims.string("ad-network-identifier")
    advertisedItemIdentifier = try claims.integer("advertised-item-identifier", 0...Int64.max)
    publisherItemIdentifier = try claims.optionalInteger("publisher-item-identifier", 0...Int64.max)
    marketplaceIdentifier = try claims.optionalString("marketplace-identifier")
    impressionType = try claims.string("impression-type")
    sourceIdentifier = try claims.sourceIdentifier()
    conversionType = ConversionType(try claims.string("conversion-type"))
    didWin = try claims.bool("did-win")
    postbackSequenceIndex = Int(try claims.integer("postback-sequence-index", 0...2))
    let unsigned = PostbackFields(body)
    adInteractionType = try unsigned.optionalString("ad-interaction-type")
    (conversionValue, coarseConversionValue) = try unsigned.conversion(coarse: true)
    countryCode = try unsigned.countryCode()
    self.payload = payload
    raw = body
  }

  /// The natural key.
  public var naturalKey: String {
    Self.naturalKey(adNetworkId: adNetworkIdentifier, identifier: postbackIdentifier, index: postbackSequenceIndex)
  }

  static func naturalKey(adNetworkId: String, identifier: String, index: Int) -> String {
    "adattributionkit:\(adNetworkId):\(identifier.lowercased()):\(index)"
  }

  /// The body with Apple's names and JSON types, and the decoded JWS payload as `payload`, with one spelling of re-engagement.
  public var typed: JSONObject {
    var object = JSONObject(raw.members.filter { !$0.value.isNull && $0.key != "payload" })
    if let conversionValue { object["conversion-value"] = .integer(conversionValue) }
    var claims = JSONObject(payload.members.filter { !$0.value.isNull })
    claims["advertised-item-identifier"] = .integer(advertisedItemIdentifier)
    if let publisherItemIdentifier { claims["publisher-item-identifier"] = .integer(publisherItemIdentifier) }
    claims["postback-sequence-index"] = .integer(postbackSequenceIndex)
    claims["did-win"] = .bool(didWin)
    // Apple spells it in two ways.
    if conversionType == .reEngagement { claims["conversion-type"] = "re-engagement" }
    object["payload"] = .object(claims)
    return object
  }

  /// The unsigned values, including values next to the JWS under a claim's name, unchanged. Two deliveries of one postback with different
  /// ones conflict.
  public var unsignedValues: JSONObject {
    var object = JSONObject()
    if let adInteractionType { object["ad-interaction-type"] = .string(adInteractionType) }
    if let conversionValue { object["conversion-value"] = .integer(conversionValue) }
    if let coarseConversionValue { object["coarse-conversion-value"] = .string(coarseConversionValue.rawValue) }
    if let countryCode { object["country-code"] = .string(countryCode) }
    for name in Self.claimNames {
      if let value = raw[name], !value.isNull { object[name] = value }
    }
    return object
  }

  /// The names of claims. Outside of the JWS their values are not signed.
  private static let claimNames = [
    "postback-identifier", "ad-network-identifier", "advertised-item-identifier", "publisher-item-identifier", "marketplace-identifier",
    "impression-type", "source-identifier", "conversion-type", "did-win", "postback-sequence-index",
  ]

  /// The privacy tier of the postback.
  public var privacy: PrivacyTier {
    PrivacyTier(
      windowIndex: postbackSequenceIndex, isWinning: didWin, sourceDigits: sourceIdentifier.utf8.count,
      hasSource: publisherItemIdentifier != nil, hasCountry: countryCode != nil, hasFineValue: conversionValue != nil,
      hasCoarseValue: coarseConversionValue != nil, hasMarketplace: marketplaceIdentifier != nil,
      names: PrivacyTier.Names(source: "publisher-item-identifier"))
  }
}
