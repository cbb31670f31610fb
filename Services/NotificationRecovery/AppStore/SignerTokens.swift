import AppStore
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Gets the bearer tokens for Apple from signer, the only service with the keys. Signer caches the tokens.
struct SignerTokens: Sendable {
  let signer: RPCClient

  func token(bundleId: String, server: AppStoreServer) async throws(AppStoreServerAPIError) -> String {
    do throws(RPCError) {
      let request = CreateAppStoreServerTokenRequest(bundleId: bundleId)
      return try await signer.call(SignerService.CreateAppStoreServerToken.self, request, timeout: .seconds(5)).token
    } catch {
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
