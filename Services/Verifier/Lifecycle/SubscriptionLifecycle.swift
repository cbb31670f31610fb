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
  /// The longest text that is taken for an id, bytes.
  static let longestId = 64

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
    let (histories, arrival) = try await insert(step, environment: environment, originalTransactionId: id, bundleId: bundleId)
    // Also for a repeat: the instance that took the step in may have died before it could say so. The key makes it one.
    for history in histories {
      for gap in history.gaps { try await suspect(gap, in: history, receivedAt: receivedAt, after: patience.milliseconds) }
    }
    guard var object = Self.summary(histories) else { return nil }
    switch arrival {
    case .inOrder, .duplicate(late: false): object["late"] = .bool(false)
    case .late, .duplicate(late: true), .beforeHistory: object["late"] = .bool(true)
    }
    return object
  }

  // MARK: Histories

  /// Puts a step into its subscription's history and joins that with those of the ids before and after it. Answers the histories
  /// that it changed or may have changed, that of its own id first and the newest last.
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

  /// Where a step names the id that its subscription had before (`MIGRATION`, and every transaction since): what it had come to under
  /// that id, which is told where it goes on. Each of the two histories is written by itself; whoever repeats this after a crash
  /// writes the same.
  func inheritance(
    _ step: LifecycleStep, environment: String, originalTransactionId: String, bundleId: String?
  ) async throws -> SubscriptionInheritance? {
    guard let previous = step.transaction?.previousOriginalTransactionId, !previous.isEmpty, previous.utf8.count <= Self.longestId,
      previous != originalTransactionId
    else { return nil }
    return try await store.change(environment, previous) { history in
      history.goOn(as: originalTransactionId, at: step.signedDate, bundleId: bundleId)
    }.1
  }

  /// Tells the ids under which a subscription goes on what it had come to before; steps of an earlier id may come late. Answers the
  /// history and those that follow it.
  func handOn(_ history: SubscriptionHistory) async throws -> [SubscriptionHistory] {
    var histories = [history]
    while histories.count < SubscriptionStore.mostIds, let last = histories.last, let next = last.continuation?.originalTransactionId,
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

  /// What an event says of the state that the newest of joined histories is in; nil where there is none yet.
  static func summary(_ histories: [SubscriptionHistory]) -> JSONObject? {
    guard let own = histories.first, let present = histories.last(where: { $0.state != nil }), let state = present.state else { return nil }
    var object: JSONObject = ["state": .string(state.status.rawValue), "since": .integer(state.since)]
    object["hasAccess"] = state.status.hasAccess.map { .bool($0) }
    object["previousOriginalTransactionId"] = (own.inheritance?.originalTransactionId).map { .string($0) }
    object["continuedAs"] = (own.continuation?.originalTransactionId).map { .string($0) }
    return object
  }

  // MARK: Gaps

  /// Leaves a message that comes due when stragglers have had their time. One for each place in a history, however often it is
  /// found.
  private func suspect(_ gap: SubscriptionGap, in history: SubscriptionHistory, receivedAt: Int64, after wait: Int64) async throws {
    let report = Self.report(gap, history, foundAt: receivedAt)
    let request = AcceptRequest(
      queue: .intake, idempotencyKey: Self.messageKey(report, history), orderKey: Self.orderKey(history),
      message: QueueMessage(kind: Self.gapKind, body: report.body, receivedAt: receivedAt, source: "verifier"),
      notBefore: wait > 0 ? WallClock.now() + wait : nil)
    do throws(QueueError) { _ = try await deliveries.accept(request) } catch {
      guard case .backlogFull = error else { throw error }
      // The queue must drain, not fill with this: the next notification of the subscription suspects it again.
      logger.warning("a gap is not looked into now: the queue is full")
    }
  }

  /// A suspected gap after its time: the data of its event, or nil when a straggler has explained it. Whoever can look it up at Apple
  /// is told before the event is out.
  func judge(_ body: [UInt8]) async throws -> (key: String, subject: String?, data: JSONObject)? {
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

  /// A subscription about which something should have been heard by now: answers whether nothing was. It is looked at again after
  /// as long a time, whatever comes of it.
  func judge(_ silent: SubscriptionStore.SilentSubscription, at now: Int64) async throws -> Bool {
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

  /// A gap that was explained and is torn open again by another straggler is looked at again: its event is one all the same.
  private static func messageKey(_ report: GapReport, _ history: SubscriptionHistory) -> String {
    "\(report.key):\(history.compactedSteps + history.steps.count)"
  }

  private static func orderKey(_ history: SubscriptionHistory) -> String {
    NotificationSniffer.orderKey(environment: history.environment, originalTransactionId: history.originalTransactionId)
  }
}
