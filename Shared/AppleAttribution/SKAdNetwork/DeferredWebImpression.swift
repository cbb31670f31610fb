import WireJSON

/// A web ad that is stored until the device requests it (SKAdNetwork for Web Ads, Get a Signed Web Ad Impression Payload).
public struct DeferredWebImpression: Sendable, Hashable {
  /// The greatest number of sites for which one ad is stored.
  static let maxDomains = 100

  public let adNetworkId: String
  public let sourceIdentifier: Int64
  public let itunesItemId: Int64
  public let nonce: WebAdNonce
  /// The sites for which it may be signed, sorted; empty for any site.
  public let sourceDomains: [String]

  /// Validates all values. Throws ``FieldError`` with the request's name of the field.
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
      throw FieldError(field: "sourceDomains", reason: "holds more than \(Self.maxDomains) domains")
    }
    var domains: Set<String> = []
    if let domain = parameters.sourceDomain { domains.insert(try ImpressionRules.domain(domain, rule: rule)) }
    for (index, domain) in sourceDomains.enumerated() {
      domains.insert(try ImpressionRules.domain(domain, field: "sourceDomains[\(index)]", rule: rule))
    }
    self.sourceDomains = domains.sorted()
  }

  /// The number of digits of the source identifier.
  public var sourceIdentifierDigits: Int { ImpressionRules.digits(ofSourceIdentifier: sourceIdentifier) }

  /// True if it may be signed for a site.
  public func allows(_ sourceDomain: String) -> Bool { sourceDomains.isEmpty || sourceDomains.contains(sourceDomain) }

  /// The impression to sign for the device, with the site that the device names and the current time.
  public func impression(for request: WebPayloadRequest, now: Int64) throws(FieldError) -> SKAdNetworkWebImpression {
    try SKAdNetworkWebImpression(
      validating: SKAdNetworkImpression.Parameters(
        version: SKAdNetworkVersion.v4_0.rawValue, adNetworkId: adNetworkId, sourceIdentifier: sourceIdentifier,
        itunesItemId: itunesItemId, sourceDomain: request.sourceDomain, nonce: nonce.uuid), now: now, domains: .form)
  }

  /// The stored form.
  public var stored: [UInt8] {
    JSONValue.object([
      "adNetworkId": .string(adNetworkId), "sourceIdentifier": .integer(sourceIdentifier), "itunesItemId": .integer(itunesItemId),
      "nonce": .string(nonce.uuid), "sourceDomains": .array(sourceDomains.map { .string($0) }),
    ]).serialized
  }

  /// Parses the stored form; nil if it is invalid.
  public init?(stored bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue,
      let impression = try? DeferredWebImpression(
        validating: SKAdNetworkImpression.Parameters(
          version: SKAdNetworkVersion.v4_0.rawValue, adNetworkId: object["adNetworkId"]?.stringValue,
          sourceIdentifier: object["sourceIdentifier"]?.int64Value, itunesItemId: object["itunesItemId"]?.int64Value,
          nonce: object["nonce"]?.stringValue),
        sourceDomains: object["sourceDomains"]?.arrayValue?.compactMap(\.stringValue) ?? [],
        // They were checked when the ad was stored.
        domains: .form)
    else { return nil }
    self = impression
  }
}
