import AppleAttribution
import AttributionProtocol
import Cryptography
import ServiceRuntime

/// `SignSKAdNetworkWebImpression`: signs the payload of a web ad for the device, and returns also the nonce in both encodings. A deferred
/// ad is not signed but stored: `SignDeferredSKAdNetworkWebImpression` signs it when a device requests it.
struct SignSKAdNetworkWebImpressionHandler: RPCHandler {
  typealias Method = SignerService.SignSKAdNetworkWebImpression

  let issuer: SignatureIssuer
  let domains: SourceDomainRule
  /// Nil without Redis.
  let store: WebImpressionStore?

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    request.deferred == true ? try await storeDeferred(request) : try begin(request, context).performAlone()
  }

  /// Begins the signature of a web ad that is not deferred.
  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<PendingSignature, Method.Response> {
    guard request.sourceDomains.isEmpty else {
      throw .invalidArgument(field: "sourceDomains", "must be given only together with deferred; sourceDomain is signed now")
    }
    let web = try Signing.checked { () throws(FieldError) in
      try SKAdNetworkWebImpression(
        validating: Self.parameters(request), now: issuer.now(), allowsAnyTime: request.anyTimestamp == true, domains: domains)
    }
    return try issuer.webPayload(web, context).map { made in
      Method.Response(
        payload: made.payload, nonce: web.nonce.uuid, attributionSourceNonce: web.nonce.base64URL, keyId: made.keyId,
        sourceIdentifierDigits: web.impression.sourceIdentifierDigits.map { Int32($0) })
    }
  }

  /// Stores a deferred web ad.
  private func storeDeferred(_ request: Method.Request) async throws(RPCError) -> Method.Response {
    guard request.anyTimestamp != true else {
      throw .invalidArgument(
        field: "anyTimestamp",
        "must not be given together with deferred, because the time of the device's request is signed")
    }
    let impression = try Signing.checked { () throws(FieldError) in
      try DeferredWebImpression(validating: Self.parameters(request), sourceDomains: request.sourceDomains, domains: domains)
    }
    // Without an active key this call fails, and not only the later request of the device.
    let identity = try issuer.keyring.active(for: impression.adNetworkId)
    guard let store else {
      throw .failedPrecondition(
        "deferred web ads are stored in Redis, which is not configured for this signer (ATTRIBUTION_REDIS_URL)",
        reason: "STORE_NOT_CONFIGURED")
    }
    try await store.add(impression)
    return Method.Response(
      payload: nil, nonce: impression.nonce.uuid, attributionSourceNonce: impression.nonce.base64URL, keyId: identity.keyId,
      sourceIdentifierDigits: Int32(impression.sourceIdentifierDigits))
  }

  private static func parameters(_ request: Method.Request) -> SKAdNetworkImpression.Parameters {
    SKAdNetworkImpression.Parameters(
      version: request.version, adNetworkId: request.adNetworkId, sourceIdentifier: request.sourceIdentifier.map { Int64($0) },
      itunesItemId: request.itunesItemId, sourceDomain: request.sourceDomain, nonce: request.nonce, timestamp: request.timestamp)
  }
}
