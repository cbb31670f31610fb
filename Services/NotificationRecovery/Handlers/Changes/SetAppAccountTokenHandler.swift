import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Set App Account Token (`AppAccountToken`).
struct SetAppAccountTokenHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.SetAppAccountToken
  let calls: AppStoreCalls

  func handle(_ request: SetAppAccountTokenRequest, _ context: RPCContext) async throws(RPCError) -> SetAppAccountTokenResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.purchaseId("originalTransactionId", request.originalTransactionId)
    let token: AppAccountToken
    do throws(RequestRefusal) { token = try AppAccountToken(request.appAccountToken ?? "") } catch { throw RPCError(error) }
    return SetAppAccountTokenResponse(
      try await calls.ask(
        .setAppAccountToken, app: app, server: try calls.server(request.environment, of: app), path: [id], body: token.body, context))
  }
}
