import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime
import WireJSON

/// Works the queue `gaps`: looks a gap up at Apple, and queues the missed notifications and Apple's status of the subscription in the
/// intake for verifier. A `ShardWorker` calls ``handle(_:)`` for each message.
///
/// Only verifier changes the subscription's history, so verifier decides how the gap ends, and reports the end by a `GapSettlement` in the
/// queue `gaps` (`Workers/ObservationWork.swift` of that service).
struct GapWork: Sendable {
  let calls: AppStoreCalls
  let deliveries: DeliveryQueue
  let store: GapStore
  let journal: IntakeJournal
  /// The time without a heartbeat of any instance of ingest that counts as an outage.
  let outageAfter: Duration
  /// The factor by which Apple's retry schedule runs faster, for development.
  let timeScale: Double
  let metrics: RecoveryMetrics
  let logger: Logger

  /// The timeout of a call to Apple with all its retries.
  private static let callTimeout: Duration = .seconds(60)
  /// The time before the gap and after the present for which notifications are requested too, milliseconds: a missing notification may have
  /// the same time as the last step, and clocks differ.
  private static let clockMargin: Int64 = 60_000

  /// Why a gap cannot be looked up now.
  private enum LookUpError: Error {
    case call(AppStoreServerAPIError)
    case paging(NotificationHistoryPager.Failure)
    case queue(QueueError)
    case store(RedisError)
  }

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    switch lease.message.kind {
    case GapReport.kind:
      guard let report = GapReport(body: lease.message.body) else { return .deadLetter(error: "the message is not a report of a gap") }
      return await lookUp(report, lease)
    case GapSettlement.kind:
      guard let settlement = GapSettlement(body: lease.message.body) else {
        return .deadLetter(error: "the message does not report the end of a gap")
      }
      return await settle(settlement)
    default: return .deadLetter(error: "unknown kind of message")
    }
  }

  private func settle(_ settlement: GapSettlement) async -> WorkOutcome {
    do throws(RedisError) { try await store.settle(settlement, now: WallClock.now()) } catch {
      return .retry(after: nil, error: "the gap in Redis cannot be read or written now")
    }
    metrics.countGap(settlement.state.rawValue)
    return .complete(Completion(state: .done, events: [], reason: settlement.state.rawValue))
  }

  private func lookUp(_ report: GapReport, _ lease: LeasedMessage) async -> WorkOutcome {
    do throws(LookUpError) {
      // Recorded before any wait, because the event about the gap may be on the feed already, and callers may ask for the gap.
      let isOpen = try await storing { () throws(RedisError) in
        try await store.begin(report, delivery: lease.deliveryID.description)
      }
      guard isOpen else { return .complete(Completion(state: .done, events: [], reason: "settled before")) }
      if let delay = try await storing({ () throws(RedisError) in try await delayAfterOutage(report.gap) }) {
        let reason = "waiting for Apple's own retries after an outage"
        try await storing { () throws(RedisError) in try await store.note(report, error: reason) }
        return .retry(after: .milliseconds(delay), error: reason)
      }
      guard let bundleId = report.bundleId, let app = calls.configuration.app(bundleId), app.appStoreServer != nil,
        let server = AppStoreServer(rawValue: report.environment), app.environments.contains(server.rawValue)
      else {
        return try await giveUp(report, lease, reason: "the app has no key for the App Store Server API in this environment")
      }
      let awaited = try await notifications(report, app, server)
      var problems: [AppStoreCalls.Problem] = []
      let entry = try await status(report, app, server, &problems)
      try await transactions(report, app, server, &problems)
      let remark = problems.isEmpty ? nil : problems.map(\.description).joined(separator: "; ")
      try await storing { () throws(RedisError) in
        try await store.found(report, notifications: awaited.count)
        // Signed data that is not as expected does not hinder the look-up, and is only told.
        try await store.note(report, error: remark)
      }
      let observation = StatusObservation(
        environment: report.environment, bundleId: bundleId, originalTransactionId: report.originalTransactionId, entry: entry,
        gap: report, awaited: awaited)
      try await enqueue(
        observation.body, kind: StatusObservation.kind, key: "looked-up:\(lease.deliveryID)", report, attributes: [:])
      return .complete(Completion(state: .done, events: [], reason: "looked up"))
    } catch {
      return await wait(for: error, report, lease)
    }
  }

  /// Ends a look-up that cannot be made at Apple. Verifier records in the subscription's history that the gap cannot be closed, so that it
  /// is not suspected again, and reports its end.
  private func giveUp(_ report: GapReport, _ lease: LeasedMessage, reason: String) async throws(LookUpError) -> WorkOutcome {
    let observation = StatusObservation(
      environment: report.environment, bundleId: report.bundleId ?? "", originalTransactionId: report.originalTransactionId, entry: nil,
      gap: report, refusal: reason)
    try await enqueue(observation.body, kind: StatusObservation.kind, key: "looked-up:\(lease.deliveryID)", report, attributes: [:])
    return .complete(Completion(state: .done, events: [], reason: "not looked up"))
  }

  /// How long the look-up waits for Apple's own retries, milliseconds, because the notification may have been missed in an outage; nil if
  /// it need not wait.
  private func delayAfterOutage(_ gap: SubscriptionGap) async throws(RedisError) -> Int64? {
    let known = try await journal.outages()
    let silentSince = known.lastBeat.flatMap { known.now - $0 > outageAfter.milliseconds ? $0 : nil }
    return GapLookUpRule.waitForRetries(
      of: gap, outages: known.outages.compactMap { try? TimeWindow(start: $0.start, end: $0.end) }, ongoingSince: silentSince,
      now: known.now, scale: timeScale)
  }

  // MARK: Calls to Apple

  /// Queues the notifications of Apple's history from the step before the gap up to now. Returns the UUIDs of those that are not verified
  /// yet.
  private func notifications(
    _ report: GapReport, _ app: DeploymentConfiguration.App, _ server: AppStoreServer
  ) async throws(LookUpError) -> [String] {
    let now = WallClock.now()
    let request: NotificationHistoryRequest
    do throws(RequestRefusal) {
      let start = report.gap.after.map { $0 - Self.clockMargin } ?? 1
      let window = try TimeWindow(start: max(1, min(start, now - 1)), end: now + Self.clockMargin)
      guard let covered = window.clipped(to: server, now: now + NotificationRetention.margin).covered else { return [] }
      request = try NotificationHistoryRequest(window: covered, transactionId: report.originalTransactionId)
    } catch { return [] }
    var pager = NotificationHistoryPager()
    var action = pager.next
    var new: [String] = []
    while case .request(let token) = action {
      let page: NotificationHistoryPage
      do throws(AppStoreServerAPIError) {
        page = try await calls.client.notificationHistory(
          request, bundleId: app.bundleId, server: server, paginationToken: token, deadline: .now + Self.callTimeout)
      } catch {
        metrics.countError(error.classification.rawValue)
        if let code = error.errorCode, let next = pager.refused(errorCode: code) {
          action = next
          continue
        }
        // If Apple does not know the transaction, there is no history. The request for the subscription's status gets the same answer.
        if error.isUnknownPurchase { return new }
        throw .call(error)
      }
      for item in page.items {
        let notification = RecoveredNotification(item.signedPayload)
        let result: RecoveredNotification.AcceptResult
        do throws(QueueError) {
          result = try await notification.accept(deliveries, bundleId: app.bundleId, attributes: ["gapId": report.gap.id])
        } catch { throw .queue(error) }
        metrics.countNotification(result)
        // A duplicate that is not verified was queued by an earlier attempt and is not in the subscription's history yet. Verifier waits
        // for the returned notifications before it decides about the gap.
        guard let uuid = notification.identifiers.notificationUUID?.lowercased() else { continue }
        if case .accepted = result {
          new.append(uuid)
        } else if try await !isVerified(notification) {
          new.append(uuid)
        }
      }
      action = pager.received(hasMore: page.hasMore, paginationToken: page.paginationToken)
    }
    // The notifications on the pages that were not read may close the gap, so the look-up is not finished.
    if case .failed(let failure) = action { throw .paging(failure) }
    return new
  }

  /// True if the notification was verified before, or has no natural key and therefore cannot be verified.
  private func isVerified(_ notification: RecoveredNotification) async throws(LookUpError) -> Bool {
    guard let key = notification.identifiers.naturalKey else { return true }
    do throws(QueueError) {
      return try await deliveries.isNaturalKeySeen(key, orderKey: notification.identifiers.orderKey, long: true)
    } catch { throw .queue(error) }
  }

  /// Apple's status of the subscription; nil if Apple does not know it. Verifier verifies it too, and ends the gap without the status if its
  /// transaction cannot be used.
  private func status(
    _ report: GapReport, _ app: DeploymentConfiguration.App, _ server: AppStoreServer, _ problems: inout [AppStoreCalls.Problem]
  ) async throws(LookUpError) -> StatusObservation.Entry? {
    do throws(AppStoreServerAPIError) {
      let response = try await calls.ask(
        .getAllSubscriptionStatuses, app: app, server: server, path: [report.originalTransactionId], deadline: .now + Self.callTimeout)
      problems += response.problems
      return StatusObservation.entries(in: response.body).first { $0.originalTransactionId == report.originalTransactionId }?.entry
        .usable(in: response)
    } catch {
      guard error.isUnknownPurchase else { throw .call(error) }
      return nil
    }
  }

  /// Queues the transactions of the gap's time, which verifier publishes as events, because Apple's history may have no notification about
  /// them any more. For silence, whose end is not known, that is every transaction since the last step.
  private func transactions(
    _ report: GapReport, _ app: DeploymentConfiguration.App, _ server: AppStoreServer, _ problems: inout [AppStoreCalls.Problem]
  ) async throws(LookUpError) {
    var query = TransactionHistoryQuery()
    query.startDate = report.gap.after.map { max(0, $0 + 1) }
    if report.gap.rules != [.silence] { query.endDate = report.gap.before + 1 }
    if let start = query.startDate, let end = query.endDate, start >= end { return }
    query.productTypes = ["AUTO_RENEWABLE"]
    let history = TransactionHistory(calls: calls, app: app, server: server, transactionId: report.originalTransactionId)
    let found: TransactionHistory.Content
    do throws(AppStoreServerAPIError) { found = try await history.all(query, pageTimeout: Self.callTimeout) } catch {
      guard error.isUnknownPurchase else { throw .call(error) }
      return
    }
    problems += found.problems
    for transaction in found.transactions where transaction.payload["originalTransactionId"]?.stringValue == report.originalTransactionId {
      do throws(QueueError) { try await transaction.enqueue(deliveries, attributes: ["gapId": report.gap.id]) } catch {
        throw .queue(error)
      }
    }
  }

  // MARK: Helpers

  /// Queues a message in the intake, in the order line of the subscription.
  private func enqueue(
    _ body: [UInt8], kind: String, key: String, _ report: GapReport, attributes: [String: String]
  ) async throws(LookUpError) {
    do throws(QueueError) {
      _ = try await deliveries.accept(
        AcceptRequest(
          queue: .intake, idempotencyKey: key,
          orderKey: NotificationSniffer.orderKey(
            environment: report.environment, originalTransactionId: report.originalTransactionId),
          message: QueueMessage(kind: kind, body: body, attributes: attributes, receivedAt: WallClock.now(), source: "recovery")))
    } catch { throw .queue(error) }
  }

  /// Runs a step in Redis, and converts its error.
  private func storing<Value>(_ body: () async throws(RedisError) -> Value) async throws(LookUpError) -> Value {
    do throws(RedisError) { return try await body() } catch { throw .store(error) }
  }

  /// The outcome after an error: a retry, or the end of the look-up if Apple would return the same error again. Since the retries state
  /// their delay, their number is not limited (`WorkOutcome.retry`), and a gap is not given up because Apple or an operator takes long.
  /// Only the retries after an error of the gaps' store are limited.
  private func wait(for obstacle: LookUpError, _ report: GapReport, _ lease: LeasedMessage) async -> WorkOutcome {
    let random = Double.random(in: 0...1)
    let step = Duration.milliseconds(GapLookUpRule.step(attempt: lease.attempt, random: random))
    let failure: String
    switch obstacle {
    case .store: return .retry(after: nil, error: "the gap in Redis cannot be read or written now")
    case .queue(let error): return .retry(after: step, error: "\(error)")
    case .paging(let error): failure = "\(error)"
    case .call(let error): failure = "\(error)"
    }
    logger.info("a gap is not looked up yet", metadata: ["gap": "\(report.key)", "reason": "\(failure)"])
    try? await store.note(report, error: failure)
    guard case .call(let error) = obstacle else { return .retry(after: step, error: failure) }
    switch GapLookUpRule.reaction(to: error, attempt: lease.attempt, now: WallClock.now(), random: random) {
    case .wait(let pause): return .retry(after: .milliseconds(pause), error: failure)
    case .unrecoverable(let reason):
      do throws(LookUpError) { return try await giveUp(report, lease, reason: reason) } catch {
        return .retry(after: step, error: "the end of the look-up cannot be queued")
      }
    }
  }
}
