import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Get App Transaction Info.
struct GetAppTransactionInfoHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetAppTransactionInfo
  let calls: AppStoreCalls

  func handle(_ request: GetAppTransactionInfoRequest, _ context: RPCContext) async throws(RPCError) -> GetAppTransactionInfoResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.purchaseId("transactionId", request.transactionId)
    return GetAppTransactionInfoResponse(
      lookedUp: try await calls.ask(
        .getAppTransactionInfo, app: app, server: try calls.server(request.environment, of: app), path: [id], context))
  }
}
