import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// `GetOneTimePurchaseState`: the current state of a one-time purchase, and the notifications that led to this state.
struct GetOneTimePurchaseStateHandler: RPCHandler {
  typealias Method = VerifierService.GetOneTimePurchaseState

  let store: OneTimePurchaseStore

  func handle(
    _ request: GetOneTimePurchaseStateRequest, _ context: RPCContext
  ) async throws(RPCError) -> GetOneTimePurchaseStateResponse {
    let id = try SubscriptionLifecycle.checkedId(request.transactionId, field: "transactionId")
    let environment = try SubscriptionLifecycle.checkedEnvironment(request.environment)
    let found: OneTimePurchaseHistory?
    do { found = try await store.history(environment: environment, transactionId: id) } catch {
      throw .unavailable("the history cannot be read now", reason: "STORE_UNAVAILABLE")
    }
    guard let history = found, let state = history.state else {
      throw .notFound("no notification of this purchase is stored", field: "transactionId")
    }
    var response = GetOneTimePurchaseStateResponse()
    response.state = state.status.rawValue
    response.since = Timestamp(millisecondsSince1970: state.since)
    response.hasAccess = state.hasAccess
    response.productId = state.facts.productId
    response.purchaseDate = state.facts.purchaseDate.map { Timestamp(millisecondsSince1970: $0) }
    response.revocationDate = state.facts.revocationDate.map { Timestamp(millisecondsSince1970: $0) }
    response.revocationType = state.facts.revocationType
    response.notifications = zip(history.steps, history.statuses).map { step, status in Self.notification(step, status, history) }
    return response
  }

  private static func notification(
    _ step: LifecycleStep, _ status: OneTimePurchaseStatus?, _ history: OneTimePurchaseHistory
  ) -> JSONObject {
    var object: JSONObject = [
      "notificationUUID": .string(step.notificationUUID), "notificationType": .string(step.type),
      "signedDate": .integer(step.signedDate), "late": .bool(history.lateSteps.contains(step.notificationUUID)),
    ]
    object["state"] = status.map { .string($0.rawValue) }
    return object
  }
}
