import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// `GetSubscriptionState`: the current state of a subscription, and the notifications that led to this state. A subscription may have
/// several original transaction ids, each with a history of its own (``SubscriptionStore/joined(environment:originalTransactionId:)``).
struct GetSubscriptionStateHandler: RPCHandler {
  typealias Method = VerifierService.GetSubscriptionState

  let store: SubscriptionStore
  /// The present time, milliseconds since 1970.
  let now: @Sendable () -> Int64

  func handle(_ request: GetSubscriptionStateRequest, _ context: RPCContext) async throws(RPCError) -> GetSubscriptionStateResponse {
    let id = try SubscriptionLifecycle.checkedId(request.originalTransactionId, field: "originalTransactionId")
    let environment = try SubscriptionLifecycle.checkedEnvironment(request.environment)
    let histories: [SubscriptionHistory]
    do { histories = try await store.joined(environment: environment, originalTransactionId: id) } catch {
      throw .unavailable("the histories cannot be read now", reason: "STORE_UNAVAILABLE")
    }
    guard let present = histories.last(where: { $0.state != nil }), let state = present.state else {
      throw .notFound("no notification of this subscription was received", field: "originalTransactionId")
    }
    let now = now()
    let status = state.status(at: now, silence: store.silence)
    var response = GetSubscriptionStateResponse()
    response.state = status.rawValue
    response.since = Timestamp(millisecondsSince1970: state.since(at: now, silence: store.silence))
    response.productId = state.productId
    response.transactionId = state.transactionId
    response.expiresDate = state.endIsAssumed ? nil : state.expiresDate.map { Timestamp(millisecondsSince1970: $0) }
    response.gracePeriodExpiresDate = state.gracePeriodExpiresDate.map { Timestamp(millisecondsSince1970: $0) }
    response.revocationDate = state.revocationDate.map { Timestamp(millisecondsSince1970: $0) }
    response.autoRenew = state.autoRenew
    response.autoRenewProductId = state.autoRenewProductId
    response.hasAccess = state.hasAccess(at: now, silence: store.silence)
    if request.brief != true {
      response.notifications = Self.notifications(histories)
      response.gaps = (histories.flatMap(\.gaps) + [present.silence(at: now, after: store.silence)].compactMap { $0 }).map(\.json)
    }
    response.source = present.steps.last?.isObservation == true ? "status" : "notifications"
    response.settledGaps = histories.flatMap { $0.settledGaps.sorted() }
    response.originalTransactionIds = histories.map(\.originalTransactionId)
    response.subscriptionGroupIdentifier = state.subscriptionGroupId
    response.storefront = state.storefront
    response.priceMilliunits = state.presentPrice?.milliunits
    response.currency = state.presentPrice?.currency
    response.originalPurchaseDate = state.originalPurchaseDate.map { Timestamp(millisecondsSince1970: $0) }
    return response
  }

  /// The notifications of all histories, in the order in which Apple signed them.
  private static func notifications(_ histories: [SubscriptionHistory]) -> [JSONObject] {
    histories.flatMap { history in
      zip(history.steps, history.statuses).map { step, status in (step, notification(step, status, history)) }
    }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  private static func notification(_ step: LifecycleStep, _ status: SubscriptionStatus, _ history: SubscriptionHistory) -> JSONObject {
    var object: JSONObject = [
      "notificationUUID": .string(step.notificationUUID), "notificationType": .string(step.type),
      "signedDate": .integer(step.signedDate), "state": .string(status.rawValue),
      "late": .bool(history.lateSteps.contains(step.notificationUUID)),
      "originalTransactionId": .string(history.originalTransactionId),
    ]
    object["subtype"] = step.subtype.map { .string($0) }
    return object
  }
}

/// Checks of the request fields that identify a history.
extension SubscriptionLifecycle {
  static func checkedId(_ id: String?, field: String) throws(RPCError) -> String {
    guard let id, !id.isEmpty else { throw .invalidArgument(field: field, "is required") }
    guard id.utf8.count <= maxIdBytes else { throw .invalidArgument(field: field, "is longer than \(maxIdBytes) bytes") }
    return id
  }

  static func checkedEnvironment(_ environment: String?) throws(RPCError) -> String {
    guard let environment else { throw .invalidArgument(field: "environment", "is required") }
    guard ["Production", "Sandbox", "Xcode", "LocalTesting"].contains(environment) else {
      throw .invalidArgument(field: "environment", "must be Production or Sandbox")
    }
    return environment
  }
}
