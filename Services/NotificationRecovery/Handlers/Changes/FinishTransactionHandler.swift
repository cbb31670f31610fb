import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Finish Transaction. A repeated call changes nothing.
struct FinishTransactionHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.FinishTransaction
  let calls: AppStoreCalls

  func handle(_ request: FinishTransactionRequest, _ context: RPCContext) async throws(RPCError) -> FinishTransactionResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.transactionId("transactionId", request.transactionId)
    return FinishTransactionResponse(
      try await calls.ask(.finishTransaction, app: app, server: try calls.server(request.environment, of: app), path: [id], context))
  }
}
