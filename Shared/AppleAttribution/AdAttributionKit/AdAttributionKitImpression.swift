import Cryptography
import WireJSON

/// The values of an AdAttributionKit impression, validated, and the JWS to sign for it (Generating JWS impressions).
/// ``signingInput(encodedHeader:)`` is the text that an ad network's key signs.
public struct AdAttributionKitImpression: Sendable, Hashable {
  /// The caller's values before validation. Their names are those of the request.
  public struct Parameters: Sendable, Hashable {
    public var adNetworkId: String?
    public var sourceIdentifier: Int64?
    public var advertisedItemId: Int64?
    public var publisherItemId: Int64?
    /// `app-impression` if it is absent.
    public var impressionType: String?
    public var eligibleForReEngagement: Bool?
    public var impressionId: String?
    /// Milliseconds since 1970.
    public var timestamp: Int64?

    public init(
      adNetworkId: String? = nil, sourceIdentifier: Int64? = nil, advertisedItemId: Int64? = nil, publisherItemId: Int64? = nil,
      impressionType: String? = nil, eligibleForReEngagement: Bool? = nil, impressionId: String? = nil, timestamp: Int64? = nil
    ) {
      self.adNetworkId = adNetworkId
      self.sourceIdentifier = sourceIdentifier
      self.advertisedItemId = advertisedItemId
      self.publisherItemId = publisherItemId
      self.impressionType = impressionType
      self.eligibleForReEngagement = eligibleForReEngagement
      self.impressionId = impressionId
      self.timestamp = timestamp
    }
  }

  /// The only type of impressions.
  public static let appImpression = "app-impression"

  /// The ad network's id in lower case. It is the header's `kid` too.
  public let adNetworkId: String
  public let sourceIdentifier: Int64
  public let advertisedItemId: Int64
  /// The app that shows the ad; 0 makes a development impression.
  public let publisherItemId: Int64
  public let eligibleForReEngagement: Bool
  /// A UUID in the case in which the caller wrote it. Unlike SKAdNetwork, AdAttributionKit does not require lower case.
  public let impressionId: String
  /// Milliseconds since 1970.
  public let timestamp: Int64

  /// Validates all values. Throws ``FieldError`` with the field.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970. It is the timestamp if the caller gives none.
  ///   - allowsAnyTime: true if the timestamp may be more than a day from `now`.
  public init(validating parameters: Parameters, now: Int64, allowsAnyTime: Bool = false) throws(FieldError) {
    adNetworkId = try ImpressionRules.adNetworkId(parameters.adNetworkId)
    sourceIdentifier = try ImpressionRules.sourceIdentifier(parameters.sourceIdentifier)
    advertisedItemId = try ImpressionRules.integer(
      parameters.advertisedItemId, 1...Int64.max, field: "advertisedItemId", "must be the App Store id of the advertised app")
    publisherItemId = try ImpressionRules.integer(
      parameters.publisherItemId, 0...Int64.max, field: "publisherItemId", "must be an App Store id, or 0 in development")
    if let type = parameters.impressionType, type != Self.appImpression {
      throw FieldError(field: "impressionType", reason: "must be \(Self.appImpression)")
    }
    eligibleForReEngagement = parameters.eligibleForReEngagement ?? false
    impressionId = try ImpressionRules.uuid(parameters.impressionId, field: "impressionId")
    timestamp = try ImpressionRules.timestamp(parameters.timestamp, now: now, allowsAnyTime: allowsAnyTime)
  }

  /// The number of digits of the source identifier.
  public var sourceIdentifierDigits: Int { ImpressionRules.digits(ofSourceIdentifier: sourceIdentifier) }

  /// The JWS header. It has `alg` and `kid`, and nothing else.
  public var header: [UInt8] { Self.header(adNetworkId) }

  private static func header(_ adNetworkId: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("alg")
    writer.string("ES256")
    writer.key("kid")
    writer.string(adNetworkId)
    writer.endObject()
    return writer.bytes
  }

  /// The header in Base64URL. It is the same for all impressions of an ad network, so it can be computed once.
  public static func encodedHeader(adNetworkId: String) -> String { Base64.encodeURL(header(adNetworkId)) }

  /// The claims. `eligible-for-re-engagement` is written only if it is true.
  public var payload: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("impression-identifier")
    writer.string(impressionId)
    writer.key("publisher-item-identifier")
    writer.int(publisherItemId)
    writer.key("impression-type")
    writer.string(Self.appImpression)
    writer.key("ad-network-identifier")
    writer.string(adNetworkId)
    writer.key("source-identifier")
    writer.int(sourceIdentifier)
    writer.key("timestamp")
    writer.int(timestamp)
    writer.key("advertised-item-identifier")
    writer.int(advertisedItemId)
    if eligibleForReEngagement {
      writer.key("eligible-for-re-engagement")
      writer.bool(true)
    }
    writer.endObject()
    return writer.bytes
  }

  /// The text to sign, header and payload. ``CompactJWS/completed(_:with:)`` appends the signature.
  ///
  /// - Parameter encodedHeader: ``encodedHeader(adNetworkId:)`` of this ad network, if it was computed before.
  public func signingInput(encodedHeader: String? = nil) -> String {
    CompactJWS.signingInput(encodedHeader: encodedHeader ?? Self.encodedHeader(adNetworkId: adNetworkId), payload: payload)
  }
}
