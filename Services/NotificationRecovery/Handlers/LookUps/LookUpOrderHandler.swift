import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Look Up Order ID, which exists only in production. For an unknown order id, Apple's answer is not an error: its
/// `status` is 1.
struct LookUpOrderHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.LookUpOrder
  let calls: AppStoreCalls

  func handle(_ request: LookUpOrderRequest, _ context: RPCContext) async throws(RPCError) -> LookUpOrderResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.requiredText("orderId", request.orderId)
    guard try calls.server(request.environment, of: app) != .sandbox else {
      throw .invalidArgument(field: "environment", "must be Production: orders can be looked up only there")
    }
    return LookUpOrderResponse(lookedUp: try await calls.ask(.lookUpOrderID, app: app, server: .production, path: [id], context))
  }
}
