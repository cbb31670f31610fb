import AppStore
import WireJSON

/// Maintains the histories of one-time purchases, from verified notifications and from transactions that were looked up at Apple. Unlike
/// subscriptions (``SubscriptionLifecycle``), one-time purchases have neither gaps nor silence.
struct OneTimePurchases: Sendable {
  let store: OneTimePurchaseStore

  /// Adds a verified notification to its purchase's history. Returns the lifecycle data of the event; nil if the notification is not about
  /// a one-time purchase.
  func addNotification(_ payload: JSONObject, transactionInfo: JSONObject?, environment: String) async throws -> JSONObject? {
    guard let transactionInfo, let step = OneTimePurchaseHistory.step(notification: payload, transactionInfo: transactionInfo),
      let (summary, arrival) = try await insert(step, transactionInfo, environment: environment)
    else { return nil }
    var object = summary
    object["late"] = .bool(arrival.isLate)
    return object
  }

  /// Adds a transaction that was looked up at Apple to its purchase's history. Returns the lifecycle data of the event; nil if the
  /// transaction is not of a one-time purchase.
  func addObservation(_ transactionInfo: JSONObject, environment: String) async throws -> JSONObject? {
    guard let step = OneTimePurchaseHistory.step(observed: transactionInfo) else { return nil }
    return try await insert(step, transactionInfo, environment: environment)?.0
  }

  /// Adds a step to its purchase's history. Returns the event's data about the current state; nil if the step's purchase cannot be told.
  private func insert(
    _ step: LifecycleStep, _ transactionInfo: JSONObject, environment: String
  ) async throws -> (JSONObject, SubscriptionHistory.Arrival)? {
    guard let id = try await store.purchaseId(of: transactionInfo, environment: environment) else { return nil }
    let (history, arrival) = try await store.insert(step, environment: environment, purchaseId: id)
    // A step that did not begin a history is not stored. Then the state follows from this step alone.
    guard let state = history.state ?? OneTimePurchaseHistory.state(after: [step]) else { return nil }
    var object: JSONObject = ["state": .string(state.status.rawValue), "since": .integer(state.since)]
    object["hasAccess"] = state.hasAccess.map { .bool($0) }
    return (object, arrival)
  }
}
