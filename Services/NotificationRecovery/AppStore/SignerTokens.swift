import AppStore
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Gets the bearer tokens for the App Store Server API from signer, the only service that has the keys. Signer caches the tokens.
struct SignerTokens: Sendable {
  let signer: RPCClient
  let configuration: DeploymentConfiguration

  /// The timeout of a call to signer.
  static let timeout: Duration = .seconds(5)
  /// The lifetimes of new tokens, seconds. Signer returns a token again only for the same lifetime, so a random one gets a new token.
  static let newLifetimes: Range<Int32> = 600..<1200

  /// A token that is signed with one of the app's keys. Nil if `key` is the other key, and the app has none or signer does not know it.
  ///
  /// - Parameters:
  ///   - isNew: true if the token must not be one that signer has returned before.
  ///   - deadline: the deadline of the call to Apple that needs the token.
  func token(
    bundleId: String, server: AppStoreServer, key: AppStoreServerKey, isNew: Bool = false, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> String? {
    var keyId: String?
    if key == .other {
      keyId = configuration.app(bundleId)?.otherAppStoreServer?.keyId
      if keyId == nil { return nil }
    }
    do throws(RPCError) {
      let request = CreateAppStoreServerTokenRequest(
        bundleId: bundleId, lifetimeSeconds: isNew ? Int32.random(in: Self.newLifetimes) : nil, keyId: keyId)
      return try await signer.call(
        SignerService.CreateAppStoreServerToken.self, request, timeout: min(Self.timeout, deadline - .now)
      ).token
    } catch {
      // Signer does not have this key any more, or is of an older version that knows only one key.
      if key == .other, error.code == .notFound || error.code == .invalidArgument { return nil }
      throw AppStoreServerAPIError(Self.classification(error.code), message: "signer returned no token: \(error)", server: server)
    }
  }

  /// The classification of signer's error. Most errors are temporary. The others, such as a missing key, last until an operator corrects
  /// the configuration.
  static func classification(_ code: RPCCode) -> AppStoreServerAPIError.Classification {
    switch code {
    case .unavailable, .deadlineExceeded, .aborted, .canceled, .resourceExhausted, .internal, .unknown, .unauthenticated: .server
    default: .configuration
    }
  }
}
