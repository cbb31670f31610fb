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

  /// The values beside the JWS, which Apple does not sign. They are read only from the body, even if the payload has a claim with the same
  /// name.
  public let unsigned: UnsignedValues

  /// The JWS payload, unchanged.
  public let payload: JSONObject
  /// The body as a JSON object, unchanged.
  public let raw: JSONObject

  /// Reads the claims from the payload. Throws ``PostbackRejection`` `malformed` with the field.
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
    unsigned = UnsignedValues(body, of: .adAttributionKit)
    self.payload = payload
    raw = body
  }

  /// The natural key: ad network and identifier in lower case, conversion window.
  public var naturalKey: String {
    Self.naturalKey(adNetworkId: adNetworkIdentifier, identifier: postbackIdentifier, index: postbackSequenceIndex)
  }

  static func naturalKey(adNetworkId: String, identifier: String, index: Int) -> String {
    "adattributionkit:\(adNetworkId.asciiLowercased):\(identifier.lowercased()):\(index)"
  }

  /// The postback as events contain it: the body's fields in Apple's JSON types with the decoded JWS payload as `payload`, without nulls and
  /// unsigned values that cannot be used, and with one spelling of re-engagement. A member `payload` of the body is left out.
  ///
  /// - Parameter foreign: the names of the foreign members of the body that are kept unchanged; nil for all. Foreign are members that are no
  ///   fields of a postback, such as those with the name of a claim.
  public func typed(foreign: Set<String>? = nil) -> JSONObject {
    var object = JSONObject()
    object.reserveCapacity(raw.members.count + 1)
    for member in raw.members where !member.value.isNull && member.key != "payload" {
      object.append(new: member.key, shown(member.key).value(member.key, member.value, foreign: foreign))
    }
    var claims = JSONObject(payload.members.filter { !$0.value.isNull })
    claims["advertised-item-identifier"] = .integer(advertisedItemIdentifier)
    if let publisherItemIdentifier { claims["publisher-item-identifier"] = .integer(publisherItemIdentifier) }
    claims["source-identifier"] = .string(sourceIdentifier)
    claims["postback-sequence-index"] = .integer(postbackSequenceIndex)
    claims["did-win"] = .bool(didWin)
    // Apple spells it in two ways; events have only this one.
    if conversionType == .reEngagement { claims["conversion-type"] = "re-engagement" }
    object["payload"] = .object(claims)
    return object
  }

  private func shown(_ name: String) -> PostbackMember {
    switch name {
    case "jws-string": .unchanged
    case "ad-interaction-type": unsigned.adInteractionType.map { .text($0) } ?? unsigned.withoutValue(name)
    case "conversion-value": unsigned.conversionValue.map { .integer(Int64($0)) } ?? unsigned.withoutValue(name)
    case "coarse-conversion-value": unsigned.coarseConversionValue.map { .text($0.rawValue) } ?? unsigned.withoutValue(name)
    case "country-code": unsigned.countryCode.map { .text($0) } ?? unsigned.withoutValue(name)
    default: .foreign
    }
  }

  /// The privacy tier of the postback.
  public var privacy: PrivacyTier {
    PrivacyTier(
      windowIndex: postbackSequenceIndex, isWinning: didWin, sourceDigits: sourceIdentifier.utf8.count,
      hasSource: publisherItemIdentifier != nil, hasMarketplace: marketplaceIdentifier != nil, unsigned: unsigned,
      names: PrivacyTier.Names(source: "publisher-item-identifier"))
  }
}
