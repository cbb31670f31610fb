import AppleAttribution
import AttributionProtocol
import Cryptography
import ServiceRuntime
import WireJSON

/// `SignDeferredSKAdNetworkWebImpression`: signs a stored web ad for the site on which a device shows it. Later requests for the same site
/// get the same payload.
struct SignDeferredSKAdNetworkWebImpressionHandler: RPCHandler {
  typealias Method = SignerService.SignDeferredSKAdNetworkWebImpression

  let issuer: SignatureIssuer
  /// Nil without Redis.
  let store: WebImpressionStore?

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let payloadRequest = try Signing.checked { () throws(FieldError) in
      try WebPayloadRequest(nonce: request.sourceNonce, sourceDomain: request.sourceDomain, version: request.version)
    }
    let (nonce, site) = (payloadRequest.nonce, payloadRequest.sourceDomain)
    // An unknown nonce and one that is only for other sites cause the same error, so that guessing nonces reveals nothing.
    let unknown = RPCError.notFound("no web ad is stored under this nonce for this site", field: "sourceNonce")
    guard let store, let (impression, earlier) = try await store.find(nonce, sourceDomain: site) else { throw unknown }
    guard impression.allows(site) else { throw unknown }
    if let earlier { return try Self.response(earlier) }
    let web = try Signing.checked { () throws(FieldError) in try impression.impression(for: payloadRequest, now: issuer.now()) }
    let (payload, keyId) = try issuer.webPayload(web, context).performAlone()
    let record = JSONValue.object(["payload": .object(payload), "keyId": .string(keyId)]).serialized
    // A concurrent request for the same site may have stored its payload first; then that one counts.
    guard let stored = try await store.addPayload(record, nonce: nonce, sourceDomain: site) else { throw unknown }
    return try Self.response(stored)
  }

  private static func response(_ record: [UInt8]) throws(RPCError) -> Method.Response {
    guard let object = try? JSONValue(parsing: record).objectValue, let payload = object["payload"]?.objectValue else {
      throw .internalError("the web ad stored under this nonce cannot be read")
    }
    return Method.Response(payload: payload, keyId: object["keyId"]?.stringValue ?? "")
  }
}

extension SignatureIssuer {
  /// Begins the signature of a web ad. The result is the payload for the device, and the id of the key that signs.
  func webPayload(_ web: SKAdNetworkWebImpression, _ context: RPCContext) throws(RPCError)
    -> CoalescedCall<PendingSignature, (payload: JSONObject, keyId: String)>
  {
    let identity = try keyring.active(for: web.impression.adNetworkId)
    let pending = PendingSignature(
      issuer: self, identity: identity, method: .skAdNetworkWebImpression, message: web.impression.signedString, context: context)
    return CoalescedCall(pending) { () throws(RPCError) in
      (web.payload(signature: SKAdNetworkImpression.text(of: try pending.signature())), identity.keyId)
    }
  }
}
