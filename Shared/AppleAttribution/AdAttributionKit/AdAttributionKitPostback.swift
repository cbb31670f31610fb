import Cryptography
import WireJSON

/// The values of an AdAttributionKit postback (Identifying the parameters in a postback). ``PostbackVerifier`` makes it after it has
/// verified the JWS, whose claims Apple signs. The values next to the JWS in the body are not signed.
public struct AdAttributionKitPostback: Sendable, Hashable {
  /// The type of the conversion. Unknown values are kept, because Apple may add new ones.
  public enum ConversionType: Sendable, Hashable {
    case download, redownload, reEngagement
    case other(String)

    init(_ text: String) {
      self =
        switch text {
        case "download": .download
        case "redownload": .redownload
        // Apple's pages also write it without the hyphen.
        case "re-engagement", "reengagement": .reEngagement
        default: .other(text)
        }
    }
  }

  /// The ad network id in test postbacks that a developer makes in the settings of a device, which sends them to a URL that is entered
  /// there. ``PostbackVerifier`` accepts them at the URL of any ad network if a development key has signed them.
  static let settingsAdNetworkId = "development.adattributionkit"

  /// A UUID in the case in which Apple wrote it. In ``naturalKey`` it is in lower case.
  public let postbackIdentifier: String
  public let adNetworkIdentifier: String
  /// The advertised app.
  public let advertisedItemIdentifier: Int64
  /// The app that showed the ad. It is present only in the highest privacy tier; 0 in development.
  public let publisherItemIdentifier: Int64?
  /// `com.apple.AppStore`, or the bundle id of another marketplace; nil in the lowest privacy tier.
  public let marketplaceIdentifier: String?
  public let impressionType: String
  /// Two to four digits. It is text, because leading zeros count.
  public let sourceIdentifier: String
  public let conversionType: ConversionType
  /// True if the ad won the conversion.
  public let didWin: Bool
  /// The conversion window, 0 to 2.
  public let postbackSequenceIndex: Int

  // The unsigned values.

  /// `click`, `view` or a newer value; nil if it is unknown.
  public let adInteractionType: String?
  /// 0–63. Apple sends it only in the first window. In another window it is kept, but has no meaning (``ConversionSchema``).
  public let conversionValue: Int?
  /// Never present together with ``conversionValue`` (``PostbackFields/conversion(coarse:)``).
  public let coarseConversionValue: CoarseConversionValue?
  /// Two letters, ISO 3166.
  public let countryCode: String?

  /// The JWS payload, unchanged.
  public let payload: JSONObject
  /// The body as a JSON object, unchanged.
  public let raw: JSONObject

  /// Reads the claims from the payload, and the unsigned values only from the body, even if the payload has a claim with the same name.
  /// Throws ``PostbackRejection`` `malformed` with the field.
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

  /// The natural key: ad network, identifier in lower case, conversion window.
  public var naturalKey: String {
    Self.naturalKey(adNetworkId: adNetworkIdentifier, identifier: postbackIdentifier, index: postbackSequenceIndex)
  }

  static func naturalKey(adNetworkId: String, identifier: String, index: Int) -> String {
    "adattributionkit:\(adNetworkId):\(identifier.lowercased()):\(index)"
  }

  /// The postback as events contain it: the body's members with the decoded JWS payload as `payload`, in Apple's JSON types, without nulls,
  /// and with one spelling of re-engagement. A member `payload` of the body is left out.
  public var typed: JSONObject {
    var object = JSONObject(raw.members.filter { !$0.value.isNull && $0.key != "payload" })
    if let conversionValue { object["conversion-value"] = .integer(conversionValue) }
    var claims = JSONObject(payload.members.filter { !$0.value.isNull })
    claims["advertised-item-identifier"] = .integer(advertisedItemIdentifier)
    if let publisherItemIdentifier { claims["publisher-item-identifier"] = .integer(publisherItemIdentifier) }
    claims["postback-sequence-index"] = .integer(postbackSequenceIndex)
    claims["did-win"] = .bool(didWin)
    // Apple spells it in two ways; events have only this one.
    if conversionType == .reEngagement { claims["conversion-type"] = "re-engagement" }
    object["payload"] = .object(claims)
    return object
  }

  /// The unsigned values, including members of the body with the name of a claim, unchanged. If two deliveries of one postback have
  /// different unsigned values, those of the first count (`VerificationWorker+RepeatedPostbacks.swift` in verifier).
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

  /// The names of claims. Members of the body with these names are not signed.
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
