import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

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

/// Apple: Set App Account Token.
struct SetAppAccountTokenHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.SetAppAccountToken
  let calls: AppStoreCalls

  func handle(_ request: SetAppAccountTokenRequest, _ context: RPCContext) async throws(RPCError) -> SetAppAccountTokenResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("originalTransactionId", request.originalTransactionId)
    let token: AppAccountToken
    do throws(RequestRefusal) { token = try AppAccountToken(request.appAccountToken ?? "") } catch { throw RPCError(error) }
    return SetAppAccountTokenResponse(
      try await calls.ask(
        .setAppAccountToken, app: app, server: try calls.server(request.environment, of: app), path: [id], body: token.body, context))
  }
}

/// Apple: Finish Transaction. Repetitions change nothing.
struct FinishTransactionHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.FinishTransaction
  let calls: AppStoreCalls

  func handle(_ request: FinishTransactionRequest, _ context: RPCContext) async throws(RPCError) -> FinishTransactionResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.transactionId("transactionId", request.transactionId)
    return FinishTransactionResponse(
      try await calls.ask(.finishTransaction, app: app, server: try calls.server(request.environment, of: app), path: [id], context))
  }
}
