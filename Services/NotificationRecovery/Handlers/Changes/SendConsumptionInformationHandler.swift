import AppStore
import AttributionProtocol
import ServiceRuntime

/// Apple: Send Consumption Information.
struct SendConsumptionInformationHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.SendConsumptionInformation
  let calls: AppStoreCalls

  func handle(_ request: SendConsumptionInformationRequest, _ context: RPCContext) async throws(RPCError)
    -> SendConsumptionInformationResponse
  {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("transactionId", request.transactionId)
    guard let body = request.consumption else { throw .invalidArgument(field: "consumption", "is missing") }
    let information: ConsumptionInformation
    do throws(RequestRefusal) {
      switch request.version ?? 2 {
      case 1: information = try ConsumptionInformation(version1: body)
      case 2: information = try ConsumptionInformation(version2: body)
      default: throw RequestRefusal(field: "version", "must be 1 or 2")
      }
    } catch {
      throw .invalidArgument(field: error.field == "version" ? error.field : "consumption." + error.field, error.reason)
    }
    return SendConsumptionInformationResponse(
      try await calls.ask(
        information.endpoint, app: app, server: try calls.server(request.environment, of: app), path: [id], body: information.body,
        context))
  }
}
