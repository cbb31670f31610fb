import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// `SignAdvancedCommerceRequest`: signs an in-app request of the Advanced Commerce API. A `requestText` is signed byte for byte as it was
/// sent.
struct SignAdvancedCommerceRequestHandler: CoalescingRPCHandler {
  typealias Method = SignerService.SignAdvancedCommerceRequest

  let issuer: SignatureIssuer

  func begin(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> CoalescedCall<PendingSignature, Method.Response> {
    let bytes: [UInt8]
    switch (request.requestText, request.request) {
    case (let text?, nil): bytes = Array(text.utf8)
    case (nil, let object?): bytes = JSONValue.object(object).serialized
    case (nil, nil): throw .invalidArgument(field: "requestText", "is required")
    case (_?, _?): throw .invalidArgument(field: "request", "must not be given together with requestText")
    }
    return try issuer.beginAppRequest(request.bundleId, .advancedCommerceRequest, context) {
      (keyId, issuerId, bundleId) throws(SigningRefusal) in
      try AppStoreRequestJWS.advancedCommerce(
        keyId: keyId, issuerId: issuerId, bundleId: bundleId, request: bytes, now: issuer.now())
    }.map { Method.Response(jws: $0.jws, keyId: $0.keyId) }
  }
}
