import WireJSON

/// The values of a web ad that are stored until a device requests the signed payload (SKAdNetwork for Web Ads: Get a Signed Web Ad
/// Impression Payload). ``impression(for:now:)`` then gives the values to sign.
public struct DeferredWebImpression: Sendable, Hashable {
  /// The greatest number of sites of one ad (our limit).
  static let maxDomains = 100

  public let adNetworkId: String
  public let sourceIdentifier: Int64
  public let itunesItemId: Int64
  public let nonce: WebAdNonce
  /// The sites for which the ad may be signed, sorted; empty for any site.
  public let sourceDomains: [String]

  /// Validates all values. Throws ``FieldError`` with the field's name in the request.
  public init(
    validating parameters: SKAdNetworkImpression.Parameters, sourceDomains: [String], domains rule: SourceDomainRule
  ) throws(FieldError) {
    guard let version = parameters.version else { throw FieldError(field: "version", reason: "is required") }
    guard version == SKAdNetworkVersion.v4_0.rawValue else {
      throw FieldError(field: "version", reason: "must be 4.0 for a web ad")
    }
    guard parameters.timestamp == nil else {
      throw FieldError(
        field: "timestamp", reason: "must not be given together with deferred, because the time of the device's request is signed")
    }
    adNetworkId = try ImpressionRules.adNetworkId(parameters.adNetworkId)
    sourceIdentifier = try ImpressionRules.sourceIdentifier(parameters.sourceIdentifier)
    itunesItemId = try ImpressionRules.integer(
      parameters.itunesItemId, 1...Int64.max, field: "itunesItemId", "must be the App Store id of the advertised app")
    nonce = try WebAdNonce(validating: parameters.nonce)
    guard sourceDomains.count <= Self.maxDomains else {
      throw FieldError(field: "sourceDomains", reason: "has more than \(Self.maxDomains) domains")
    }
    var domains: Set<String> = []
    if let domain = parameters.sourceDomain { domains.insert(try rule.checked(domain)) }
    for (index, domain) in sourceDomains.enumerated() {
      domains.insert(try rule.checked(domain, field: "sourceDomains[\(index)]"))
    }
    self.sourceDomains = domains.sorted()
  }

  /// The number of digits of the source identifier.
  public var sourceIdentifierDigits: Int { ImpressionRules.digits(ofSourceIdentifier: sourceIdentifier) }

  /// True if the ad may be signed for the site.
  public func allows(_ sourceDomain: String) -> Bool { sourceDomains.isEmpty || sourceDomains.contains(sourceDomain) }

  /// The values to sign for a device's request, with the site that the device names, and `now` as the timestamp.
  public func impression(for request: WebPayloadRequest, now: Int64) throws(FieldError) -> SKAdNetworkWebImpression {
    try SKAdNetworkWebImpression(
      validating: SKAdNetworkImpression.Parameters(
        version: SKAdNetworkVersion.v4_0.rawValue, adNetworkId: adNetworkId, sourceIdentifier: sourceIdentifier,
        itunesItemId: itunesItemId, sourceDomain: request.sourceDomain, nonce: nonce.uuid), now: now, domains: .form)
  }

  /// The stored format.
  public var stored: [UInt8] {
    JSONValue.object([
      "adNetworkId": .string(adNetworkId), "sourceIdentifier": .integer(sourceIdentifier), "itunesItemId": .integer(itunesItemId),
      "nonce": .string(nonce.uuid), "sourceDomains": .array(sourceDomains.map { .string($0) }),
    ]).serialized
  }

  /// Parses the stored format; nil if it is invalid.
  public init?(stored bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue,
      let impression = try? DeferredWebImpression(
        validating: SKAdNetworkImpression.Parameters(
          version: SKAdNetworkVersion.v4_0.rawValue, adNetworkId: object["adNetworkId"]?.stringValue,
          sourceIdentifier: object["sourceIdentifier"]?.int64Value, itunesItemId: object["itunesItemId"]?.int64Value,
          nonce: object["nonce"]?.stringValue),
        sourceDomains: object["sourceDomains"]?.arrayValue?.compactMap(\.stringValue) ?? [],
        // The sites were checked against the public suffix list when the ad was stored.
        domains: .form)
    else { return nil }
    self = impression
  }
}
