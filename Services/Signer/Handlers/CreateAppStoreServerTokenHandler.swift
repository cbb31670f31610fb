import AppStore
import AttributionProtocol
import Cryptography
import ServiceRuntime
import Synchronization

/// `CreateAppStoreServerToken`: a token for the App Store Server API; the same one until shortly before it ends.
struct CreateAppStoreServerTokenHandler: ImmediateRPCHandler {
  typealias Method = SignerService.CreateAppStoreServerToken

  let issuer: SignatureIssuer

  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let keyring = issuer.keyring
    let (bundleId, keys) = try keyring.app(request.bundleId)
    guard let key = keys.server, let issuerId = key.issuerId else {
      throw .failedPrecondition("no key for the App Store Server API is configured for this app", reason: "KEY_UNAVAILABLE")
    }
    let now = issuer.now()
    let token = try Signing.checked { () throws(SigningRefusal) in
      try AppStoreServerToken(
        keyId: key.keyId, issuerId: issuerId, bundleId: bundleId, lifetime: request.lifetimeSeconds.map { Int64($0) }, now: now)
    }
    let name = TokenCache.Name(bundleId: bundleId, lifetime: token.expiresAt - token.issuedAt)
    if let kept = keyring.tokens.token(name, now: now) { return Self.response(kept) }
    let made = TokenCache.Made(
      token: token,
      text: try Signing.signed { () throws(SignatureError) in
        try token.sign(with: issuer.signer(key.identity, .appStoreServerToken, context))
      })
    keyring.tokens.keep(made, name)
    return Self.response(made)
  }

  private static func response(_ made: TokenCache.Made) -> Method.Response {
    Method.Response(token: made.text, expiresAt: Timestamp(seconds: made.token.expiresAt))
  }
}

/// Tokens that still have enough of their life before them.
final class TokenCache: Sendable {
  struct Name: Hashable {
    let bundleId: String
    let lifetime: Int64
  }

  struct Made {
    let token: AppStoreServerToken
    let text: String
  }

  /// Callers choose lifetimes: more different ones than this and all are forgotten.
  private static let capacity = 4096
  private let made = Mutex<[Name: Made]>([:])

  func token(_ name: Name, now: Int64) -> Made? {
    made.withLock { $0[name].flatMap { $0.token.needsRenewal(now: now) ? nil : $0 } }
  }

  func keep(_ token: Made, _ name: Name) {
    made.withLock { made in
      if made.count >= Self.capacity { made.removeAll() }
      made[name] = token
    }
  }
}
