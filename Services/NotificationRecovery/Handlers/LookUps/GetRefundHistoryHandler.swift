import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Get Refund History, version 2.
struct GetRefundHistoryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetRefundHistory
  let calls: AppStoreCalls

  func handle(_ request: GetRefundHistoryRequest, _ context: RPCContext) async throws(RPCError) -> GetRefundHistoryResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.purchaseId("transactionId", request.transactionId)
    guard request.revision != "" else { throw .invalidArgument(field: "revision", "must not be empty") }
    return GetRefundHistoryResponse(
      lookedUp: try await calls.ask(
        .getRefundHistory, app: app, server: try calls.server(request.environment, of: app), path: [id],
        query: request.revision.map { [("revision", $0)] } ?? [], context))
  }
}
