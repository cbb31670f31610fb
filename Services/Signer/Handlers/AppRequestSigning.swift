import AppStore
import AttributionProtocol
import Cryptography
import ServiceRuntime

extension SignatureIssuer {
  /// Begins the signature of a JWS that an app passes to StoreKit. The key is the app's In-App Purchase key (``Keyring``), always P-256. Throws `failed_precondition` if the issuer id of the app's key is not
  /// configured.
  ///
  /// - Parameters:
  ///   - bundleId: the app, from the request.
  ///   - make: makes the unsigned JWS, for this key, issuer and app.
  func beginAppRequest(
    _ bundleId: String?, _ method: SignatureMethod, _ context: RPCContext,
    _ make: (_ keyId: String, _ issuerId: String, _ bundleId: String) throws(SigningRefusal) -> AppStoreRequestJWS
  ) throws(RPCError) -> CoalescedCall<PendingSignature, (jws: String, keyId: String)> {
    let (bundleId, key) = try keyring.appRequestKey(bundleId)
    guard let issuerId = key.issuerId else {
      throw .failedPrecondition("the key of this app has no issuerId in the configuration", reason: "KEY_UNAVAILABLE")
    }
    let input = try Signing.checked { () throws(SigningRefusal) in try make(key.keyId, issuerId, bundleId) }.signingInput
    let pending = PendingSignature(
      issuer: self, identity: key.identity, method: method, message: Array(input.utf8), context: context)
    let keyId = key.keyId
    return CoalescedCall(pending) { () throws(RPCError) in (CompactJWS.completed(input, with: try pending.signature()), keyId) }
  }
}
