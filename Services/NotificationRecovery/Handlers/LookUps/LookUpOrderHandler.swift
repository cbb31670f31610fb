import AppStore
import AttributionProtocol
import ServiceRuntime

/// Apple: Look Up Order ID; production only. An unknown order id is not an error: the answer's `status` says so.
struct LookUpOrderHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.LookUpOrder
  let calls: AppStoreCalls

  func handle(_ request: LookUpOrderRequest, _ context: RPCContext) async throws(RPCError) -> LookUpOrderResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("orderId", request.orderId)
    guard try calls.server(request.environment, of: app) != .sandbox else {
      throw .invalidArgument(field: "environment", "orders are known in production only")
    }
    return LookUpOrderResponse(try await calls.ask(.lookUpOrderID, app: app, server: .production, path: [id], context))
  }
}
