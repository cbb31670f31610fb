import AppStore
import AttributionProtocol
import AttributionQueue
import Logging
import ServiceRuntime
import WireJSON

/// Follows subscriptions by their verified notifications, and says when a notification must have been missed.
struct SubscriptionLifecycle: Sendable {
  /// The kind of the message that looks at a suspected gap once stragglers have had their time.
  static let gapKind = "subscription-gap"

  let store: SubscriptionStore
  let deliveries: DeliveryQueue
  /// How long stragglers are waited for before a gap is published.
  let patience: Duration
  let logger: Logger

  /// Takes a verified notification into its subscription's history. Nil for one that is of no subscription's life; otherwise what
  /// the event says of the lifecycle.
  func take(
    _ payload: JSONObject, transactionInfo: JSONObject?, renewalInfo: JSONObject?, environment: String, bundleId: String?,
    receivedAt: Int64
  ) async throws -> JSONObject? {
    guard renewalInfo != nil || transactionInfo?["type"]?.stringValue == "Auto-Renewable Subscription",
      let id = (transactionInfo?["originalTransactionId"] ?? renewalInfo?["originalTransactionId"])?.stringValue,
      let step = LifecycleStep(notification: payload, transactionInfo: transactionInfo, renewalInfo: renewalInfo)
    else { return nil }
    let (history, arrival) = try await store.insert(step, environment: environment, originalTransactionId: id)
    // Also for a repeat: the instance that took the step in may have died before it could say so. The key makes it one.
    for gap in history.gaps { try await suspect(gap, in: history, bundleId: bundleId, receivedAt: receivedAt) }
    guard let state = history.state else { return nil }
    var object: JSONObject = ["state": .string(state.status.rawValue), "since": .integer(state.since)]
    object["hasAccess"] = state.status.hasAccess.map { .bool($0) }
    switch arrival {
    case .inOrder, .duplicate(late: false): object["late"] = .bool(false)
    case .late, .duplicate(late: true), .beforeHistory: object["late"] = .bool(true)
    }
    return object
  }

  /// Leaves a message that comes due when stragglers have had their time. One for each place in a history, however often it is
  /// found.
  private func suspect(_ gap: SubscriptionGap, in history: SubscriptionHistory, bundleId: String?, receivedAt: Int64) async throws {
    var body: JSONObject = [
      "environment": .string(history.environment), "originalTransactionId": .string(history.originalTransactionId),
      "gap": .string(gap.id),
    ]
    body["bundleId"] = bundleId.map { .string($0) }
    let request = AcceptRequest(
      // A gap that was explained and is torn open again by another straggler is looked at again: its event is one all the same.
      queue: .intake, idempotencyKey: "\(Self.key(gap, history)):\(history.steps.count)",
      orderKey: NotificationSniffer.orderKey(
        environment: history.environment, originalTransactionId: history.originalTransactionId),
      message: QueueMessage(
        kind: Self.gapKind, body: JSONValue.object(body).serialized, receivedAt: receivedAt, source: "verifier"),
      notBefore: WallClock.now() + patience.wholeMilliseconds)
    do throws(QueueError) { _ = try await deliveries.accept(request) } catch {
      guard case .backlogFull = error else { throw error }
      // The queue must drain, not fill with this: the next notification of the subscription suspects it again.
      logger.warning("a gap is not looked into now: the queue is full")
    }
  }

  /// A suspected gap after its time: the data of its event, or nil when a straggler has explained it.
  func judge(_ body: [UInt8]) async throws -> (key: String, subject: String?, data: JSONObject)? {
    guard let object = try? JSONValue(parsing: body).objectValue, let environment = object["environment"]?.stringValue,
      let id = object["originalTransactionId"]?.stringValue, let name = object["gap"]?.stringValue,
      let history = try await store.history(environment: environment, originalTransactionId: id),
      let gap = history.gaps.first(where: { $0.id == name })
    else { return nil }
    var data: JSONObject = [
      "environment": .string(environment), "originalTransactionId": .string(id), "gap": .object(gap.json),
      "state": history.state.map { .string($0.status.rawValue) } ?? .null,
    ]
    data["bundleId"] = object["bundleId"]
    return (Self.key(gap, history), object["bundleId"]?.stringValue, data)
  }

  private static func key(_ gap: SubscriptionGap, _ history: SubscriptionHistory) -> String {
    "gap:\(history.environment):\(history.originalTransactionId):\(gap.id)"
  }
}

extension SubscriptionGap {
  /// As events and answers carry it.
  var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "rules": .array(rules.map { .string($0.rawValue) }), "before": .integer(before),
      "shownBy": .string(shownBy),
    ]
    object["after"] = after.map { .integer($0) }
    return object
  }
}

extension Duration {
  var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
