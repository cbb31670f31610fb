import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Get Test Notification Status. While Apple has no status yet, the error is `NOT_FOUND`;
/// `TestNotificationStatusTimes` of the module AppStore has the times at which callers should call again.
struct GetTestNotificationStatusHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetTestNotificationStatus
  let calls: AppStoreCalls

  func handle(_ request: GetTestNotificationStatusRequest, _ context: RPCContext) async throws(RPCError)
    -> GetTestNotificationStatusResponse
  {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let token = try calls.requiredText("testNotificationToken", request.testNotificationToken)
    let response = try await calls.ask(.getTestNotificationStatus, app: app, server: server, path: [token], context)
    return GetTestNotificationStatusResponse(response: response.body, payload: response.decoded.first)
  }
}
