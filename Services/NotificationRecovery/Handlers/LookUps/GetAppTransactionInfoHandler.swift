import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Get App Transaction Info.
struct GetAppTransactionInfoHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetAppTransactionInfo
  let calls: AppStoreCalls

  func handle(_ request: GetAppTransactionInfoRequest, _ context: RPCContext) async throws(RPCError) -> GetAppTransactionInfoResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.requiredText("transactionId", request.transactionId)
    return GetAppTransactionInfoResponse(
      try await calls.ask(.getAppTransactionInfo, app: app, server: try calls.server(request.environment, of: app), path: [id], context))
  }
}
