import AppleAttribution
import AttributionProtocol
import Cryptography
import ServiceRuntime

/// `SignSKAdNetworkWebImpression`: the signed payload of a web ad, ready to serve to the device, and its nonce in both encodings.
struct SignSKAdNetworkWebImpressionHandler: ImmediateRPCHandler {
  typealias Method = SignerService.SignSKAdNetworkWebImpression

  let keyring: Keyring
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response { try sign(request) }

  func sign(_ request: Method.Request) throws(RPCError) -> Method.Response {
    if request.deferred == true {
      throw .unimplemented("deferred: impressions are not kept for the device's request; ask for the signed payload when it comes")
    }
    let parameters = SKAdNetworkImpression.Parameters(
      version: request.version, adNetworkId: request.adNetworkId, sourceIdentifier: request.sourceIdentifier.map { Int64($0) },
      itunesItemId: request.itunesItemId, sourceDomain: request.sourceDomain, nonce: request.nonce, timestamp: request.timestamp)
    let web = try Signing.checked { () throws(FieldError) in
      try SKAdNetworkWebImpression(validating: parameters, now: now())
    }
    let (keyId, key) = try keyring.active(for: web.impression.adNetworkId)
    let signature = try Signing.signed { () throws(SignatureError) in try web.impression.sign(with: key) }
    return Method.Response(
      payload: web.payload(signature: signature), nonce: web.nonce.uuid, attributionSourceNonce: web.nonce.base64URL, keyId: keyId)
  }
}
