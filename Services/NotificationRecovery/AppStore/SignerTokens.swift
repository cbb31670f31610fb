import AppStore
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Gets the bearer tokens for Apple from the signer, which alone holds the keys and keeps tokens for as long as they are good.
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

  /// What is to be done without a token: most of what the signer may say passes; a key that is missing or no key does not.
  static func classification(_ code: RPCCode) -> AppStoreServerAPIError.Classification {
    switch code {
    case .unavailable, .deadlineExceeded, .aborted, .canceled, .resourceExhausted, .internal, .unknown, .unauthenticated: .server
    default: .configuration
    }
  }
}
