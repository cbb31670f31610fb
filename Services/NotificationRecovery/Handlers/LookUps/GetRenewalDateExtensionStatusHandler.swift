import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Get Status of Subscription Renewal Date Extensions.
struct GetRenewalDateExtensionStatusHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetRenewalDateExtensionStatus
  let calls: AppStoreCalls

  func handle(_ request: GetRenewalDateExtensionStatusRequest, _ context: RPCContext) async throws(RPCError)
    -> GetRenewalDateExtensionStatusResponse
  {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let path = [
      try calls.requiredText("productId", request.productId), try calls.requiredText("requestIdentifier", request.requestIdentifier),
    ]
    do throws(RequestRefusal) { try RenewalDateExtension.checkMassIdentifier(path[1]) } catch { throw RPCError(error) }
    return GetRenewalDateExtensionStatusResponse(
      try await calls.ask(.getRenewalDateExtensionStatus, app: app, server: server, path: path, context))
  }
}
