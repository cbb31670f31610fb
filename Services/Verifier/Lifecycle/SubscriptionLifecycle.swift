import AppStore
import AttributionProtocol
import AttributionQueue
import Logging
import ServiceRuntime
import WireJSON

/// Maintains the histories of subscriptions from verified notifications, and finds gaps, where a notification must have been missed.
struct SubscriptionLifecycle: Sendable {
  /// The kind of the message that checks a suspected gap after the time for late notifications.
  static let gapKind = "subscription-gap"
  /// The longest id that is accepted, bytes.
  static let maxIdBytes = 64

  let store: SubscriptionStore
  let deliveries: DeliveryQueue
  /// How long late notifications are waited for before a gap is published.
  let patience: Duration
  let logger: Logger

  /// Adds a verified notification to its subscription's history. Returns the lifecycle data of the event; nil if the notification is not
  /// about a subscription.
  func addNotification(
    _ payload: JSONObject, transactionInfo: JSONObject?, renewalInfo: JSONObject?, environment: String, bundleId: String?,
    receivedAt: Int64
  ) async throws -> JSONObject? {
    guard renewalInfo != nil || transactionInfo?["type"]?.stringValue == "Auto-Renewable Subscription",
      let id = (transactionInfo?["originalTransactionId"] ?? renewalInfo?["originalTransactionId"])?.stringValue,
      let step = LifecycleStep(notification: payload, transactionInfo: transactionInfo, renewalInfo: renewalInfo)
    else { return nil }
    let (histories, arrival) = try await insert(step, environment: environment, originalTransactionId: id, bundleId: bundleId)
    // Also for a repeat, because the instance that added the step may have died before this. The idempotency key makes it one message.
    for history in histories {
      for gap in history.gaps { try await suspect(gap, in: history, receivedAt: receivedAt, after: patience.milliseconds) }
    }
    guard var object = summary(histories) else { return nil }
    object["late"] = .bool(arrival.isLate)
    return object
  }

  // MARK: Histories

  /// Adds a step to its subscription's history, and connects that with those of the earlier and later ids. Returns the histories that it
  /// may have changed: that of its own id first, the newest last.
  func insert(
    _ step: LifecycleStep, environment: String, originalTransactionId: String, bundleId: String?
  ) async throws -> ([SubscriptionHistory], SubscriptionHistory.Arrival) {
    let inherited = try await inheritance(step, environment: environment, originalTransactionId: originalTransactionId, bundleId: bundleId)
    let (history, arrival) = try await store.change(environment, originalTransactionId) { history in
      if let inherited { history.begin(with: inherited) }
      let arrival = history.insert(step)
      if history.bundleId == nil { history.bundleId = bundleId }
      return arrival
    }
    return (try await handOn(history), arrival)
  }

  /// If a step names the subscription's previous id (`MIGRATION`, and every transaction since), returns the state that the subscription had
  /// reached under that id, and links the previous history to this one. Each history is written separately. A repetition after a crash
  /// writes the same.
  func inheritance(
    _ step: LifecycleStep, environment: String, originalTransactionId: String, bundleId: String?
  ) async throws -> SubscriptionInheritance? {
    guard let previous = step.transaction?.previousOriginalTransactionId, !previous.isEmpty, previous.utf8.count <= Self.maxIdBytes,
      previous != originalTransactionId
    else { return nil }
    return try await store.change(environment, previous) { history in
      history.recordContinuation(as: originalTransactionId, at: step.signedDate, bundleId: bundleId)
    }.1
  }

  /// Passes the state of a subscription on to the histories of its later ids, because steps of an earlier id may come late. Returns the
  /// history and those that follow it.
  func handOn(_ history: SubscriptionHistory) async throws -> [SubscriptionHistory] {
    var histories = [history]
    while histories.count < SubscriptionStore.maxIds, let last = histories.last, let next = last.continuation?.originalTransactionId,
      !histories.contains(where: { $0.originalTransactionId == next }), let inherited = last.inheritance(of: next)
    {
      histories.append(
        try await store.change(last.environment, next) { history in
          history.begin(with: inherited)
          if history.bundleId == nil { history.bundleId = last.bundleId }
        }.0)
    }
    return histories
  }

  /// The event's data about the current state, which is that of the newest history with a state; nil if there is none.
  func summary(_ histories: [SubscriptionHistory]) -> JSONObject? {
    guard let own = histories.first, let present = histories.last(where: { $0.state != nil }), let state = present.state else { return nil }
    var object: JSONObject = ["state": .string(state.status.rawValue), "since": .integer(state.since)]
    // A recovered notification may be published after the end of what it granted.
    object["hasAccess"] = state.hasAccess(at: WallClock.now(), silence: store.silence).map { .bool($0) }
    object["previousOriginalTransactionId"] = (own.inheritance?.originalTransactionId).map { .string($0) }
    object["continuedAs"] = (own.continuation?.originalTransactionId).map { .string($0) }
    return object
  }

  // MARK: Gaps

  /// Queues a message that becomes due after `wait`, milliseconds, so that late notifications can close the gap before. A gap has one such
  /// message, however often it is found: the idempotency key suppresses the others.
  private func suspect(_ gap: SubscriptionGap, in history: SubscriptionHistory, receivedAt: Int64, after wait: Int64) async throws {
    let report = Self.report(gap, history, foundAt: receivedAt)
    let request = AcceptRequest(
      queue: .intake, idempotencyKey: Self.messageKey(report, history), orderKey: Self.orderKey(history),
      message: QueueMessage(kind: Self.gapKind, body: report.body, receivedAt: receivedAt, source: "verifier"),
      notBefore: wait > 0 ? WallClock.now() + wait : nil)
    do throws(QueueError) { _ = try await deliveries.accept(request) } catch {
      guard case .backlogFull = error else { throw error }
      // A full queue must not get more messages. The next notification of the subscription finds the gap again.
      logger.warning("a suspected gap is not queued, because the queue is full")
    }
  }

  /// Checks a suspected gap after the time for late notifications. Returns the data of its event; nil if a late notification has closed it.
  /// The gap is queued for the look-up at Apple before its event is published.
  func checkGap(_ body: [UInt8]) async throws -> (key: String, subject: String?, data: JSONObject)? {
    guard let asked = GapReport(body: body),
      let history = try await store.history(environment: asked.environment, originalTransactionId: asked.originalTransactionId),
      let gap = (history.gaps + [history.silence(at: WallClock.now(), after: store.silence)].compactMap { $0 })
        .first(where: { $0.id == asked.gap.id })
    else { return nil }
    let report = Self.report(gap, history, foundAt: asked.foundAt)
    _ = try await deliveries.accept(
      AcceptRequest(
        queue: .gaps, idempotencyKey: "look-up:\(Self.messageKey(report, history))", orderKey: Self.orderKey(history),
        message: QueueMessage(kind: GapReport.kind, body: report.body, receivedAt: WallClock.now(), source: "verifier")))
    var data: JSONObject = [
      "environment": .string(report.environment), "originalTransactionId": .string(report.originalTransactionId),
      "gap": .object(gap.json), "state": history.state.map { .string($0.status.rawValue) } ?? .null,
    ]
    data["bundleId"] = report.bundleId.map { .string($0) }
    return (report.key, report.bundleId, data)
  }

  /// Checks a subscription whose due time has passed. Returns true if it is silent. Then it is checked again after the same time.
  func checkSilence(of silent: SubscriptionStore.SilentSubscription, at now: Int64) async throws -> Bool {
    let history = try await store.history(environment: silent.environment, originalTransactionId: silent.originalTransactionId)
    let gap = history?.silence(at: now, after: store.silence)
    if let history, let gap { try await suspect(gap, in: history, receivedAt: now, after: 0) }
    try await store.postpone(silent, to: gap == nil ? history?.silenceDue(after: store.silence) : now + max(1000, store.silence))
    return gap != nil
  }

  private static func report(_ gap: SubscriptionGap, _ history: SubscriptionHistory, foundAt: Int64) -> GapReport {
    GapReport(
      environment: history.environment, originalTransactionId: history.originalTransactionId, bundleId: history.bundleId, gap: gap,
      foundAt: foundAt)
  }

  /// The gap's position is part of the key, so that a gap that was closed and opened again by late notifications is checked again. Its
  /// event has the same id. Later notifications of the subscription do not change the key.
  private static func messageKey(_ report: GapReport, _ history: SubscriptionHistory) -> String {
    "\(report.key):at:\(history.position(of: report.gap))"
  }

  private static func orderKey(_ history: SubscriptionHistory) -> String {
    NotificationSniffer.orderKey(environment: history.environment, originalTransactionId: history.originalTransactionId)
  }
}
