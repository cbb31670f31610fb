import Cryptography
public import WireJSON

/// A web ad that waits for the device to ask for it (SKAdNetwork for Web Ads, Get a Signed Web Ad Impression Payload).
public struct DeferredWebImpression: Sendable, Hashable {
  /// The most sites one ad is kept for.
  public static let mostDomains = 100

  public let adNetworkId: String
  public let sourceIdentifier: Int64
  public let itunesItemId: Int64
  public let nonce: WebAdNonce
  /// The sites it may be signed for, sorted; empty for whichever the device names.
  public let sourceDomains: [String]

  /// Checks every value. Throws ``FieldError`` with the request's name of the field.
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
    guard sourceDomains.count <= Self.mostDomains else {
      throw FieldError(field: "sourceDomains", reason: "holds more than \(Self.mostDomains) domains")
    }
    var domains: Set<String> = []
    if let domain = parameters.sourceDomain { domains.insert(try ImpressionRules.domain(domain, rule: rule)) }
    for (index, domain) in sourceDomains.enumerated() {
      domains.insert(try ImpressionRules.domain(domain, field: "sourceDomains[\(index)]", rule: rule))
    }
    self.sourceDomains = domains.sorted()
  }

  /// Whether it may be signed for a site.
  public func allows(_ sourceDomain: String) -> Bool { sourceDomains.isEmpty || sourceDomains.contains(sourceDomain) }

  /// What is signed for the device: the site that it names, and now.
  public func impression(for request: WebPayloadRequest, now: Int64) throws(FieldError) -> SKAdNetworkWebImpression {
    try SKAdNetworkWebImpression(
      validating: SKAdNetworkImpression.Parameters(
        version: SKAdNetworkVersion.v4_0.rawValue, adNetworkId: adNetworkId, sourceIdentifier: sourceIdentifier,
        itunesItemId: itunesItemId, sourceDomain: request.sourceDomain, nonce: nonce.uuid), now: now, domains: .form)
  }

  /// The form in which it is kept.
  public var stored: [UInt8] {
    JSONValue.object([
      "adNetworkId": .string(adNetworkId), "sourceIdentifier": .integer(sourceIdentifier), "itunesItemId": .integer(itunesItemId),
      "nonce": .string(nonce.uuid), "sourceDomains": .array(sourceDomains.map { .string($0) }),
    ]).serialized
  }

  /// Reads the form in which it is kept; nil for anything else.
  public init?(stored bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue,
      let impression = try? DeferredWebImpression(
        validating: SKAdNetworkImpression.Parameters(
          version: SKAdNetworkVersion.v4_0.rawValue, adNetworkId: object["adNetworkId"]?.stringValue,
          sourceIdentifier: object["sourceIdentifier"]?.int64Value, itunesItemId: object["itunesItemId"]?.int64Value,
          nonce: object["nonce"]?.stringValue),
        sourceDomains: object["sourceDomains"]?.arrayValue?.compactMap(\.stringValue) ?? [],
        // They were checked when they were taken in.
        domains: .form)
    else { return nil }
    self = impression
  }
}

/// The device's request for a signed web ad (Get a Signed Web Ad Impression Payload).
public struct WebPayloadRequest: Sendable, Hashable {
  /// What the device says of a tap; the only engagement there is.
  public static let clickToAppStore = "click_to_App_Store"

  public let nonce: WebAdNonce
  public let sourceDomain: String

  /// Checks the values. `version` may be later than 4.0: the answer says which one is signed.
  public init(
    nonce: String?, sourceDomain: String?, version: String?, names: (nonce: String, domain: String) = ("sourceNonce", "sourceDomain")
  )
    throws(FieldError)
  {
    guard let nonce else { throw FieldError(field: names.nonce, reason: "is required") }
    self.nonce = try WebAdNonce(validating: nonce, field: names.nonce)
    // The device found it by a list of its own; by an older one of ours a genuine ad would be lost.
    self.sourceDomain = try ImpressionRules.domain(sourceDomain, field: names.domain, rule: .form)
    guard let version else { throw FieldError(field: "version", reason: "is required") }
    let parts = version.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let major = Int(parts[0]), Int(parts[1]) != nil, major >= 4, version.utf8.count <= 8 else {
      throw FieldError(field: "version", reason: "must be 4.0 or later")
    }
  }

  /// Reads the device's own object, under Apple's names.
  public init(_ object: JSONObject) throws(FieldError) {
    func text(_ name: String) throws(FieldError) -> String? {
      guard let value = object[name], !value.isNull else { return nil }
      guard let text = value.stringValue else { throw FieldError(field: name, reason: "must be a string") }
      return text
    }
    try self.init(
      nonce: try text("source_nonce"), sourceDomain: try text("source_domain"), version: try text("version"),
      names: ("source_nonce", "source_domain"))
    guard try text("source_engagement_type") == Self.clickToAppStore else {
      throw FieldError(field: "source_engagement_type", reason: "must be \(Self.clickToAppStore)")
    }
  }
}
