import AppStore
import AttributionProtocol
import Cryptography
import ServiceRuntime
import Synchronization

/// `CreateAppStoreServerToken`: signs a token for the App Store Server API, or returns the last one as long as it is not due for renewal.
struct CreateAppStoreServerTokenHandler: ImmediateRPCHandler {
  typealias Method = SignerService.CreateAppStoreServerToken

  let issuer: SignatureIssuer

  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    let keyring = issuer.keyring
    let (bundleId, keys) = try keyring.app(request.bundleId)
    if let keyId = request.keyId, keys.serverKey(keyId) == nil {
      throw .notFound("this app has no App Store Server API key with this id", field: "keyId")
    }
    guard let key = keys.serverKey(request.keyId), let issuerId = key.issuerId else {
      throw .failedPrecondition("no key for the App Store Server API is configured for this app", reason: "KEY_UNAVAILABLE")
    }
    let now = issuer.now()
    let token = try Signing.checked { () throws(SigningRefusal) in
      try AppStoreServerToken(
        keyId: key.keyId, issuerId: issuerId, bundleId: bundleId, lifetime: request.lifetimeSeconds.map { Int64($0) }, now: now)
    }
    let cacheKey = TokenCache.Key(bundleId: bundleId, keyId: key.keyId, lifetime: token.expiresAt - token.issuedAt)
    if let cached = keyring.tokens.token(cacheKey, now: now) { return Self.response(cached) }
    let cached = TokenCache.CachedToken(
      token: token,
      text: try Signing.signed { () throws(SignatureError) in
        try token.sign(with: issuer.signer(key.identity, .appStoreServerToken, context))
      })
    keyring.tokens.add(cached, cacheKey)
    return Self.response(cached)
  }

  private static func response(_ cached: TokenCache.CachedToken) -> Method.Response {
    Method.Response(token: cached.text, expiresAt: Timestamp(seconds: cached.token.expiresAt))
  }
}

/// A cache of tokens, which are returned again until they are due for renewal.
final class TokenCache: Sendable {
  struct Key: Hashable {
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
  private let tokens = Mutex<[Key: CachedToken]>([:])

  /// The cached token; nil if there is none, or if it is due for renewal.
  func token(_ key: Key, now: Int64) -> CachedToken? {
    tokens.withLock { $0[key].flatMap { $0.token.needsRenewal(now: now) ? nil : $0 } }
  }

  func add(_ token: CachedToken, _ key: Key) {
    tokens.withLock { tokens in
      if tokens.count >= Self.capacity { tokens.removeAll() }
      tokens[key] = token
    }
  }
}
