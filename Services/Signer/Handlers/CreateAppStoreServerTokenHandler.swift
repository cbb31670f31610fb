import AppStore
import AttributionProtocol
import Cryptography
import ServiceRuntime
import Synchronization

/// `CreateAppStoreServerToken`: a token for the App Store Server API; the same token until it is due for renewal.
struct CreateAppStoreServerTokenHandler: ImmediateRPCHandler {
  typealias Method = SignerService.CreateAppStoreServerToken

  let issuer: SignatureIssuer

  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let keyring = issuer.keyring
    let (bundleId, keys) = try keyring.app(request.bundleId)
    if let keyId = request.keyId, keys.serverKey(keyId) == nil {
      throw .notFound("this app has no such key for the App Store Server API", field: "keyId")
    }
    guard let key = keys.serverKey(request.keyId), let issuerId = key.issuerId else {
      throw .failedPrecondition("no key for the App Store Server API is configured for this app", reason: "KEY_UNAVAILABLE")
    }
    let now = issuer.now()
    let token = try Signing.checked { () throws(SigningRefusal) in
      try AppStoreServerToken(
        keyId: key.keyId, issuerId: issuerId, bundleId: bundleId, lifetime: request.lifetimeSeconds.map { Int64($0) }, now: now)
    }
    let name = TokenCache.Name(bundleId: bundleId, keyId: key.keyId, lifetime: token.expiresAt - token.issuedAt)
    if let kept = keyring.tokens.token(name, now: now) { return Self.response(kept) }
    let cached = TokenCache.CachedToken(
      token: token,
      text: try Signing.signed { () throws(SignatureError) in
        try token.sign(with: issuer.signer(key.identity, .appStoreServerToken, context))
      })
    keyring.tokens.keep(cached, name)
    return Self.response(cached)
  }

  private static func response(_ cached: TokenCache.CachedToken) -> Method.Response {
    Method.Response(token: cached.text, expiresAt: Timestamp(seconds: cached.token.expiresAt))
  }
}

/// Tokens that are returned again until they are due for renewal.
final class TokenCache: Sendable {
  struct Name: Hashable {
    let bundleId: String
    let keyId: String
    let lifetime: Int64
  }

  struct CachedToken {
    let token: AppStoreServerToken
    let text: String
  }

  /// Callers choose lifetimes, so the number of tokens needs a limit; at the limit all are removed.
  private static let capacity = 4096
  private let tokens = Mutex<[Name: CachedToken]>([:])

  func token(_ name: Name, now: Int64) -> CachedToken? {
    tokens.withLock { $0[name].flatMap { $0.token.needsRenewal(now: now) ? nil : $0 } }
  }

  func keep(_ token: CachedToken, _ name: Name) {
    tokens.withLock { tokens in
      if tokens.count >= Self.capacity { tokens.removeAll() }
      tokens[name] = token
    }
  }
}
