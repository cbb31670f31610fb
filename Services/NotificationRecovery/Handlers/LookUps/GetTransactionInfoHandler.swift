import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Get Transaction Info.
struct GetTransactionInfoHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetTransactionInfo
  let calls: AppStoreCalls

  func handle(_ request: GetTransactionInfoRequest, _ context: RPCContext) async throws(RPCError) -> GetTransactionInfoResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.purchaseId("transactionId", request.transactionId)
    return GetTransactionInfoResponse(
      lookedUp: try await calls.ask(
        .getTransactionInfo, app: app, server: try calls.server(request.environment, of: app), path: [id], context))
  }
}
