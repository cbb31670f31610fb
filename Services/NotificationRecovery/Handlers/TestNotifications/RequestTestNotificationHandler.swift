import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Request a Test Notification.
struct RequestTestNotificationHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.RequestTestNotification
  let calls: AppStoreCalls

  func handle(_ request: RequestTestNotificationRequest, _ context: RPCContext) async throws(RPCError) -> RequestTestNotificationResponse {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let response = try await calls.ask(.requestTestNotification, app: app, server: server, context)
    guard let token = response.body["testNotificationToken"]?.stringValue else {
      throw .unavailable("the App Store answered without a testNotificationToken", reason: "APP_STORE_UNAVAILABLE")
    }
    return RequestTestNotificationResponse(testNotificationToken: token)
  }
}
