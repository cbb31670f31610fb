import AppStore
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Gets the bearer tokens for Apple from signer, the only service with the keys. Signer caches the tokens.
struct SignerTokens: Sendable {
  let signer: RPCClient
  let configuration: DeploymentConfiguration

  /// How long signer may take.
  static let timeout: Duration = .seconds(5)

  /// A token with one of the app's keys; nil if no other key is configured.
  ///
  /// - Parameter deadline: of the call to Apple that needs the token.
  func token(
    bundleId: String, server: AppStoreServer, key: AppStoreServerKey, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> String? {
    var keyId: String?
    if key == .other {
      keyId = configuration.app(bundleId)?.otherAppStoreServer?.keyId
      if keyId == nil { return nil }
    }
    do throws(RPCError) {
      let request = CreateAppStoreServerTokenRequest(bundleId: bundleId, keyId: keyId)
      return try await signer.call(
        SignerService.CreateAppStoreServerToken.self, request, timeout: min(Self.timeout, deadline - .now)
      ).token
    } catch {
      // Signer has no such key any more, or is of a version that knows only one.
      if key == .other, error.code == .notFound || error.code == .invalidArgument { return nil }
      throw AppStoreServerAPIError(Self.classification(error.code), message: "no token from the signer: \(error)", server: server)
    }
  }

  /// The classification of an error without a token: most errors of signer are temporary, except for a missing or invalid key.
  static func classification(_ code: RPCCode) -> AppStoreServerAPIError.Classification {
    switch code {
    case .unavailable, .deadlineExceeded, .aborted, .canceled, .resourceExhausted, .internal, .unknown, .unauthenticated: .server
    default: .configuration
    }
  }
}
