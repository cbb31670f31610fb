import AppStore
import AttributionProtocol
import Cryptography
import ServiceRuntime

extension SignatureIssuer {
  /// Signs what an app hands to StoreKit as a JWS. Throws `failed_precondition` when the key's issuer is not configured.
  func signAppRequest(
    _ bundleId: String?, _ method: SignatureMethod, _ context: RPCContext,
    _ make: (_ keyId: String, _ issuerId: String, _ bundleId: String) throws(SigningRefusal) -> AppStoreRequestJWS
  ) throws(RPCError) -> (jws: String, keyId: String) {
    let (bundleId, key) = try keyring.appRequestKey(bundleId)
    guard let issuerId = key.issuerId else {
      throw .failedPrecondition("the key of this app has no issuerId in the configuration", reason: "KEY_UNAVAILABLE")
    }
    let request = try Signing.checked { () throws(SigningRefusal) in try make(key.keyId, issuerId, bundleId) }
    return (try Signing.signed { () throws(SignatureError) in try request.sign(with: signer(key.identity, method, context)) }, key.keyId)
  }
}
