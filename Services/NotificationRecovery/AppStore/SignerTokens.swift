import AppStore
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
      switch error.code {
      case .unavailable, .deadlineExceeded, .aborted, .canceled, .resourceExhausted:
        throw AppStoreServerAPIError(.server, message: "no token from the signer: \(error.code.rawValue)", server: server)
      default:
        throw AppStoreServerAPIError(.configuration, message: "no token from the signer: \(error)", server: server)
      }
    }
  }
}
