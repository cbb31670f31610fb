import Cryptography

/// The values of a SKAdNetwork impression, validated for its version (Signing and providing ads; Generating a signature for attributable
/// web ads). An ad network's key signs ``signedString``.
public struct SKAdNetworkImpression: Sendable, Hashable {
  /// The caller's values before validation. Their names are those of the request.
  public struct Parameters: Sendable, Hashable {
    public var version: String?
    public var adNetworkId: String?
    public var campaignId: Int64?
    public var sourceIdentifier: Int64?
    public var itunesItemId: Int64?
    public var sourceAppId: Int64?
    public var sourceDomain: String?
    public var fidelityType: Int64?
    public var nonce: String?
    /// Milliseconds since 1970.
    public var timestamp: Int64?

    public init(
      version: String? = nil, adNetworkId: String? = nil, campaignId: Int64? = nil, sourceIdentifier: Int64? = nil,
      itunesItemId: Int64? = nil, sourceAppId: Int64? = nil, sourceDomain: String? = nil, fidelityType: Int64? = nil,
      nonce: String? = nil, timestamp: Int64? = nil
    ) {
      self.version = version
      self.adNetworkId = adNetworkId
      self.campaignId = campaignId
      self.sourceIdentifier = sourceIdentifier
      self.itunesItemId = itunesItemId
      self.sourceAppId = sourceAppId
      self.sourceDomain = sourceDomain
      self.fidelityType = fidelityType
      self.nonce = nonce
      self.timestamp = timestamp
    }
  }

  public let version: SKAdNetworkVersion
  public let adNetworkId: String
  /// Only up to version 3.0.
  public let campaignId: Int64?
  /// Only in version 4.0.
  public let sourceIdentifier: Int64?
  /// The App Store id of the advertised app.
  public let itunesItemId: Int64
  /// The App Store id of the app that shows the ad, from version 2.0 on; nil for a web ad. 0 makes a development impression.
  public let sourceAppId: Int64?
  /// The site that shows the ad; only for a web ad in version 4.0.
  public let sourceDomain: String?
  /// 1 for StoreKit-rendered and web ads, 0 for view-through ads; from version 2.2 on.
  public let fidelityType: Int64?
  /// A UUID in lower case, as it is signed.
  public let nonce: String
  /// Milliseconds since 1970.
  public let timestamp: Int64

  /// Validates all values. Throws ``FieldError`` with the field. A value that the version does not have is refused, because the caller
  /// would be mistaken about what is signed.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970. It is the timestamp if the caller gives none.
  ///   - allowsAnyTime: true if the timestamp may be more than a day from `now`.
  ///   - domains: the rule for the site's name.
  public init(
    validating parameters: Parameters, now: Int64, allowsAnyTime: Bool = false, domains: SourceDomainRule
  ) throws(FieldError) {
    guard let text = parameters.version else { throw FieldError(field: "version", reason: "is required") }
    guard let version = SKAdNetworkVersion(rawValue: text) else {
      throw FieldError(field: "version", reason: "must be 1.0, 2.0, 2.1, 2.2, 3.0 or 4.0")
    }
    self.version = version
    adNetworkId = try ImpressionRules.adNetworkId(parameters.adNetworkId)
    if version < .v4_0 {
      try Self.refuse(parameters.sourceIdentifier, "sourceIdentifier", version, "it has campaignId instead")
      try Self.refuse(parameters.sourceDomain, "sourceDomain", version, "web ads require 4.0")
      campaignId = try ImpressionRules.campaignId(parameters.campaignId)
      (sourceIdentifier, sourceDomain) = (nil, nil)
    } else {
      try Self.refuse(parameters.campaignId, "campaignId", version, "it has sourceIdentifier instead")
      sourceIdentifier = try ImpressionRules.sourceIdentifier(parameters.sourceIdentifier)
      campaignId = nil
      if parameters.sourceDomain != nil {
        guard parameters.sourceAppId == nil else {
          throw FieldError(
            field: "sourceDomain", reason: "must not be given together with sourceAppId; an ad is shown in an app or on a site")
        }
        sourceDomain = try domains.checked(parameters.sourceDomain)
      } else {
        sourceDomain = nil
      }
    }
    itunesItemId = try ImpressionRules.integer(
      parameters.itunesItemId, 1...Int64.max, field: "itunesItemId", "must be the App Store id of the advertised app")
    if version < .v2_0 {
      try Self.refuse(parameters.sourceAppId, "sourceAppId", version, "it is signed from 2.0 on")
      sourceAppId = nil
    } else if sourceDomain != nil {
      sourceAppId = nil
    } else {
      sourceAppId = try ImpressionRules.integer(
        parameters.sourceAppId, 0...Int64.max, field: "sourceAppId", "must be an App Store id, or 0 in development")
    }
    fidelityType = try Self.fidelity(parameters.fidelityType, version, isWeb: sourceDomain != nil)
    nonce = try ImpressionRules.uuid(parameters.nonce, field: "nonce").lowercased()
    timestamp = try ImpressionRules.timestamp(parameters.timestamp, now: now, allowsAnyTime: allowsAnyTime)
  }

  /// The bytes to sign: the values in the order of the version, joined with U+2063.
  public var signedString: [UInt8] {
    var text = SignedText()
    if version.isSigned { text.append(version.rawValue) }
    text.append(adNetworkId)
    if let sourceIdentifier { text.append(sourceIdentifier) } else if let campaignId { text.append(campaignId) }
    text.append(itunesItemId)
    text.append(nonce)
    if let sourceAppId { text.append(sourceAppId) } else if let sourceDomain { text.append(sourceDomain) }
    if let fidelityType { text.append(fidelityType) }
    text.append(timestamp)
    return text.bytes
  }

  /// The number of digits of the source identifier; nil without one.
  public var sourceIdentifierDigits: Int? { sourceIdentifier.map { ImpressionRules.digits(ofSourceIdentifier: $0) } }

  /// A signature of ``signedString`` in the format for the device: DER in standard Base64.
  public static func text(of signature: ECDSASignature) -> String { Base64.encode(signature.der) }

  /// The fidelity type by the rules of the version.
  private static func fidelity(_ value: Int64?, _ version: SKAdNetworkVersion, isWeb: Bool) throws(FieldError) -> Int64? {
    let field = "fidelityType"
    guard version >= .v2_2 else {
      try refuse(value, field, version, "it is signed from 2.2 on")
      return nil
    }
    if isWeb {
      guard value == nil || value == 1 else { throw FieldError(field: field, reason: "must be 1 for a web ad") }
      return 1
    }
    return try ImpressionRules.integer(value, 0...1, field: field, "must be 1 (StoreKit-rendered) or 0 (view-through)")
  }

  /// Throws if there is a value that the version does not have.
  private static func refuse(
    _ value: (some Sendable)?, _ field: String, _ version: SKAdNetworkVersion, _ why: String
  ) throws(FieldError) {
    guard value == nil else {
      throw FieldError(field: field, reason: "is not part of version \(version.rawValue): \(why)")
    }
  }
}
