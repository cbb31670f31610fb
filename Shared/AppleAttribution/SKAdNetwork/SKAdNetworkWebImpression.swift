import WireJSON

/// The values of a web ad to sign, validated (Get a Signed Web Ad Impression Payload). ``payload(signature:)`` is the response to the
/// device once ``impression`` is signed.
public struct SKAdNetworkWebImpression: Sendable, Hashable {
  public let impression: SKAdNetworkImpression
  public let nonce: WebAdNonce

  /// Validates all values as ``SKAdNetworkImpression`` does, and requires version 4.0 and a source domain. The fidelity type is always 1.
  /// The nonce may be in either encoding (``WebAdNonce``).
  public init(
    validating parameters: SKAdNetworkImpression.Parameters, now: Int64, allowsAnyTime: Bool = false, domains: SourceDomainRule
  ) throws(FieldError) {
    guard parameters.version != nil else { throw FieldError(field: "version", reason: "is required") }
    guard parameters.version == SKAdNetworkVersion.v4_0.rawValue else {
      throw FieldError(field: "version", reason: "must be 4.0 for a web ad")
    }
    nonce = try WebAdNonce(validating: parameters.nonce)
    guard parameters.sourceDomain != nil else { throw FieldError(field: "sourceDomain", reason: "is required") }
    var parameters = parameters
    parameters.nonce = nonce.uuid
    impression = try SKAdNetworkImpression(validating: parameters, now: now, allowsAnyTime: allowsAnyTime, domains: domains)
  }

  /// The response to the device, under Apple's names, which have underscores here and hyphens in postbacks. The fidelity type is signed but
  /// not sent.
  public func payload(signature: String) -> JSONObject {
    [
      "version": .string(impression.version.rawValue), "ad_network_id": .string(impression.adNetworkId),
      "source_identifier": .integer(impression.sourceIdentifier ?? 0), "itunes_item_id": .integer(impression.itunesItemId),
      "nonce": .string(impression.nonce), "source_domain": .string(impression.sourceDomain ?? ""),
      "timestamp": .integer(impression.timestamp), "signature": .string(signature),
    ]
  }
}
