import AppleAttribution
import AttributionProtocol
import Cryptography
import ServiceRuntime
import WireJSON

/// `SignDeferredSKAdNetworkWebImpression`: the payload of a stored web ad, for the device that asks for it.
struct SignDeferredSKAdNetworkWebImpressionHandler: RPCHandler {
  typealias Method = SignerService.SignDeferredSKAdNetworkWebImpression

  let issuer: SignatureIssuer
  /// Nil without Redis.
  let store: WebImpressionStore?

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let asked = try Signing.checked { () throws(FieldError) in
      try WebPayloadRequest(nonce: request.sourceNonce, sourceDomain: request.sourceDomain, version: request.version)
    }
    // The same error for an unknown nonce and for one of other sites, so that guessing reveals nothing.
    let unknown = RPCError.notFound("no web ad is stored under this nonce for this site", field: "sourceNonce")
    guard let store, let (kept, earlier) = try await store.find(asked.nonce, sourceDomain: asked.sourceDomain) else { throw unknown }
    guard kept.allows(asked.sourceDomain) else { throw unknown }
    if let earlier { return try Self.response(earlier) }
    let web = try Signing.checked { () throws(FieldError) in try kept.impression(for: asked, now: issuer.now()) }
    let (payload, keyId) = try issuer.webPayload(web, context).performAlone()
    let record = JSONValue.object(["payload": .object(payload), "keyId": .string(keyId)]).serialized
    guard let settled = try await store.settle(record, nonce: asked.nonce, sourceDomain: asked.sourceDomain) else { throw unknown }
    return try Self.response(settled)
  }

  private static func response(_ record: [UInt8]) throws(RPCError) -> Method.Response {
    guard let object = try? JSONValue(parsing: record).objectValue, let payload = object["payload"]?.objectValue else {
      throw .internalError("the web ad stored under this nonce cannot be read")
    }
    return Method.Response(payload: payload, keyId: object["keyId"]?.stringValue ?? "")
  }
}

extension SignatureIssuer {
  /// The signed payload of a web ad, and the key that signed it.
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
