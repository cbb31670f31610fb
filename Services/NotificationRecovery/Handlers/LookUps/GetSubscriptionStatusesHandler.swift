import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Get All Subscription Statuses.
struct GetSubscriptionStatusesHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetSubscriptionStatuses
  let calls: AppStoreCalls

  func handle(_ request: GetSubscriptionStatusesRequest, _ context: RPCContext) async throws(RPCError) -> GetSubscriptionStatusesResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.purchaseId("transactionId", request.transactionId)
    guard request.status.allSatisfy({ (1...5).contains($0) }) else { throw .invalidArgument(field: "status", "must be 1 to 5") }
    return GetSubscriptionStatusesResponse(
      lookedUp: try await calls.ask(
        .getAllSubscriptionStatuses, app: app, server: try calls.server(request.environment, of: app), path: [id],
        query: request.status.map { ("status", String($0)) }, context))
  }
}
