import AppStore
import AttributionProtocol
import ServiceRuntime

/// Apple: Get Test Notification Status. While Apple has no status it is `not_found`; callers ask at `TestNotificationStatusTimes`.
struct GetTestNotificationStatusHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetTestNotificationStatus
  let calls: AppStoreCalls

  func handle(_ request: GetTestNotificationStatusRequest, _ context: RPCContext) async throws(RPCError)
    -> GetTestNotificationStatusResponse
  {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let token = try calls.filled("testNotificationToken", request.testNotificationToken)
    let response = try await calls.ask(.getTestNotificationStatus, app: app, server: server, path: [token], context)
    return GetTestNotificationStatusResponse(response: response.body, payload: response.decoded.first)
  }
}
