import AppStore
import AttributionProtocol
import AttributionQueue
import Logging
import ServiceRuntime
import WireJSON

/// Maintains the histories of subscriptions from verified notifications, and finds gaps: steps that are missing in a history.
///
/// - ``addNotification(_:transactionInfo:renewalInfo:environment:bundleId:receivedAt:)`` adds a step and queues a delayed check of each
///   gap.
/// - ``checkGap(_:)`` is that check. If no late notification has closed the gap, it queues the gap for notification-recovery (`GapWork`
///   there), which looks it up at Apple, and its caller publishes an event.
/// - `ObservationWork` adds what the look-up returned, and settles the gap.
///
/// The rules are in `SubscriptionHistory` of the module AppStore; ``SubscriptionStore`` stores the histories.
struct SubscriptionLifecycle: Sendable {
  /// The kind of the message that checks a suspected gap after the time for late notifications.
  static let gapKind = "subscription-gap"
  /// The maximum length of an id in requests and in steps, bytes.
  static let maxIdBytes = 64

  let store: SubscriptionStore
  let deliveries: DeliveryQueue
  /// How long a gap waits for late notifications before it is published (setting `appStore.gapPatience`).
  let gapDelay: Duration
  let logger: Logger

  /// Adds a verified notification to its subscription's history. Returns the lifecycle data of the event; nil if the notification is not
  /// about a subscription.
  func addNotification(
    _ payload: JSONObject, transactionInfo: JSONObject?, renewalInfo: JSONObject?, environment: String, bundleId: String?,
    receivedAt: Int64
  ) async throws -> JSONObject? {
    guard SubscriptionHistory.isAboutSubscription(payload, transactionInfo: transactionInfo, renewalInfo: renewalInfo),
      let id = SubscriptionHistory.originalTransactionId(transactionInfo: transactionInfo, renewalInfo: renewalInfo),
      let step = LifecycleStep(notification: payload, transactionInfo: transactionInfo, renewalInfo: renewalInfo)
    else { return nil }
    let (histories, arrival) = try await insert(step, environment: environment, originalTransactionId: id, bundleId: bundleId)
    // This is done for a repeated notification too, because the instance that added the step may have crashed before it queued the checks.
    // The idempotency key suppresses a second message.
    for history in histories {
      for gap in history.gaps { try await queueCheck(gap, in: history, receivedAt: receivedAt, after: gapDelay.milliseconds) }
    }
    guard var object = summary(histories) else { return nil }
    object["late"] = .bool(arrival.isLate)
    return object
  }

  // MARK: Histories

  /// Adds a step to its subscription's history, and connects this history with those of the subscription's earlier and later ids. Returns
  /// the histories that the step may have changed: first that of the step's own id, last the newest.
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
    return (try await propagate(history), arrival)
  }

  /// If a step names the subscription's previous id (`MIGRATION`, and every transaction since), links the previous history to this one, and
  /// returns the state that the subscription had reached under the previous id. Each history is written separately; a repeat after a crash
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
  /// given history and those that follow it.
  func propagate(_ history: SubscriptionHistory) async throws -> [SubscriptionHistory] {
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

  /// The event's data about the current state, which is that of the newest history with a state; nil if no history has one.
  func summary(_ histories: [SubscriptionHistory]) -> JSONObject? {
    guard let own = histories.first, let present = histories.last(where: { $0.state != nil }), let state = present.state else { return nil }
    var object: JSONObject = ["state": .string(state.status.rawValue), "since": .integer(state.since)]
    // Computed for the present time, because a recovered notification may be published after the end of the period that it granted.
    object["hasAccess"] = state.hasAccess(at: WallClock.now(), silence: store.silence).map { .bool($0) }
    object["previousOriginalTransactionId"] = (own.inheritance?.originalTransactionId).map { .string($0) }
    object["continuedAs"] = (own.continuation?.originalTransactionId).map { .string($0) }
    return object
  }

  // MARK: Gaps

  /// Queues a message that checks a gap after a delay (milliseconds), so that late notifications can close the gap before. The idempotency
  /// key suppresses a second message about the same gap.
  private func queueCheck(_ gap: SubscriptionGap, in history: SubscriptionHistory, receivedAt: Int64, after delay: Int64) async throws {
    let report = Self.report(gap, history, foundAt: receivedAt)
    let request = AcceptRequest(
      queue: .intake, idempotencyKey: Self.messageKey(report, history), orderKey: Self.orderKey(history),
      message: QueueMessage(kind: Self.gapKind, body: report.body, receivedAt: receivedAt, source: "verifier"),
      notBefore: delay > 0 ? WallClock.now() + delay : nil)
    do throws(QueueError) { _ = try await deliveries.accept(request) } catch {
      guard case .backlogFull = error else { throw error }
      // The next notification of the subscription finds the gap again.
      logger.warning("the check of a suspected gap is not queued, because the queue is full")
    }
  }

  /// Checks a suspected gap after the time for late notifications. Returns the content of the gap's event; nil if a late notification has
  /// closed the gap. The gap is queued for the look-up at Apple before its event is published.
  func checkGap(_ body: [UInt8]) async throws -> (key: String, subject: String?, data: JSONObject)? {
    guard let suspected = GapReport(body: body),
      let history = try await store.history(environment: suspected.environment, originalTransactionId: suspected.originalTransactionId),
      let gap = (history.gaps + [history.silence(at: WallClock.now(), after: store.silence)].compactMap { $0 })
        .first(where: { $0.id == suspected.gap.id })
    else { return nil }
    let report = Self.report(gap, history, foundAt: suspected.foundAt)
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

  /// Checks a subscription whose due time of silence has passed. Returns true if it is silent; then it is checked again when the time of
  /// silence has passed once more.
  func checkSilence(of silent: SubscriptionStore.SilentSubscription, at now: Int64) async throws -> Bool {
    let history = try await store.history(environment: silent.environment, originalTransactionId: silent.originalTransactionId)
    let gap = history?.silence(at: now, after: store.silence)
    if let history, let gap { try await queueCheck(gap, in: history, receivedAt: now, after: 0) }
    try await store.postpone(silent, to: gap == nil ? history?.silenceDue(after: store.silence) : now + max(1000, store.silence))
    return gap != nil
  }

  private static func report(_ gap: SubscriptionGap, _ history: SubscriptionHistory, foundAt: Int64) -> GapReport {
    GapReport(
      environment: history.environment, originalTransactionId: history.originalTransactionId, bundleId: history.bundleId, gap: gap,
      foundAt: foundAt)
  }

  /// The key of a message about a gap. It contains the gap's position in the history, so that a gap that late notifications have closed and
  /// opened again is checked again; the event then has the same id as before. Later notifications of the subscription do not change the
  /// key.
  private static func messageKey(_ report: GapReport, _ history: SubscriptionHistory) -> String {
    "\(report.key):at:\(history.position(of: report.gap))"
  }

  private static func orderKey(_ history: SubscriptionHistory) -> String {
    NotificationSniffer.orderKey(environment: history.environment, originalTransactionId: history.originalTransactionId)
  }
}
