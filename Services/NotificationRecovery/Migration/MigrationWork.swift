import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime
import WireJSON

/// Works the queue `migrations`: looks up the transaction history and the subscription statuses of a receipt's purchases at Apple, and
/// queues both in the intake for verifier, which publishes them. Events that exist already are not published again.
///
/// A `ShardWorker` calls ``handle(_:)`` for each message. Verifier's part is `Workers/ObservationWork.swift` of that service.
struct MigrationWork: Sendable {
  let calls: AppStoreCalls
  let deliveries: DeliveryQueue
  let store: MigrationStore
  let metrics: RecoveryMetrics
  let logger: Logger

  /// The timeout of a call to Apple with all its retries.
  private static let callTimeout: Duration = .seconds(60)
  /// The pause after an error that an operator must correct.
  private static let operatorPause: Duration = .seconds(300)
  /// The longest pause after a temporary error.
  private static let maxPauseMilliseconds: Double = 300_000

  private enum LookUpError: Error {
    case call(AppStoreServerAPIError)
    case queue(QueueError)
  }

  /// The results of a receipt's look-ups.
  private struct Found {
    /// Ids that need no look-up any more, because the look-up of another id has returned them: Apple returns all purchases of a customer.
    var covered: Set<String> = []
    /// Ids that Apple does not know.
    var unknown: [String] = []
    /// Apple's error code for the first id that it does not know.
    var unknownCode: Int64?
    /// An error because of which an id must be looked up again.
    var postponed: AppStoreServerAPIError?
    /// True if the look-up of an id succeeded, and its answer was not useless because of its signed data.
    var isUsable = false
    /// Why ids and signed transactions cannot be used.
    var failures: [MigrationFailureRecord] = []
    /// The number of transactions that Apple returned.
    var transactions = 0
    /// The number of subscriptions whose statuses Apple returned.
    var subscriptions = 0
  }

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    guard lease.message.kind == MigrationTask.kind, let task = MigrationTask(body: lease.message.body) else {
      return .deadLetter(error: "the message is not a receipt to migrate")
    }
    do throws(RedisError) {
      switch try await store.state(of: task) {
      case .open: break
      case .finished: return .complete(Completion(state: .done, events: [], reason: "done before"))
      case .cancelled:
        metrics.countReceipt("cancelled")
        return .complete(Completion(state: .done, events: [], reason: "cancelled"))
      }
    } catch { return .retry(after: nil, error: "the migration in Redis cannot be read or written now") }
    var found = Found()
    guard let app = calls.configuration.app(task.bundleId), app.appStoreServer != nil else {
      for id in task.ids { fail(task, "refused", "the app has no key for the App Store Server API", id, &found) }
      return await finish(task, found)
    }
    do throws(LookUpError) {
      for id in task.ids where !found.covered.contains(id) { try await lookUp(id, app, task, &found) }
      if let postponed = found.postponed { throw .call(postponed) }
    } catch {
      return wait(for: error, task, lease)
    }
    if !found.unknown.isEmpty {
      if let wait = UnknownTransactionRule.wait(
        receivedAt: lease.message.receivedAt, now: WallClock.now(), patience: store.settings.unknownPatience.milliseconds)
      {
        return .retry(after: .milliseconds(wait), error: "Apple does not know the transaction yet")
      }
      for id in found.unknown {
        fail(task, "no-transaction", "Apple knows no such transaction of this app", id, code: found.unknownCode, &found)
      }
    }
    return await finish(task, found)
  }

  /// Looks an id up, and queues its transactions and statuses. An id that Apple refuses or does not know does not affect the others.
  private func lookUp(
    _ id: String, _ app: DeploymentConfiguration.App, _ task: MigrationTask, _ found: inout Found
  ) async throws(LookUpError) {
    guard !TransactionIdExtractor.isOfXcode(id) else {
      return fail(task, "xcode-receipt", "is the id of a purchase in Xcode, which Apple does not know", id, &found)
    }
    let history: TransactionHistory.Content
    do throws(AppStoreServerAPIError) {
      history = try await TransactionHistory(calls: calls, app: app, server: task.server ?? app.onlyServer, transactionId: id).all(
        pageTimeout: Self.callTimeout)
    } catch {
      guard error.isUnknownPurchase else { return try refuse(id, error, task, &found) }
      found.unknown.append(id)
      found.unknownCode = found.unknownCode ?? error.errorCode
      return
    }
    var statuses: AppStoreCalls.Response?
    do throws(AppStoreServerAPIError) {
      statuses = try await calls.ask(
        .getAllSubscriptionStatuses, app: app, server: history.server, path: [id], deadline: .now + Self.callTimeout)
    } catch { try refuse(id, error, task, &found) }
    let problems = (history.problems + (statuses?.problems ?? [])).filter { !$0.isUsed }
    for problem in problems { fail(task, "signed-data-invalid", "\(problem)", id, &found) }
    let before = (found.transactions, found.subscriptions)
    var payloads = history.transactions.map(\.payload)
    do throws(QueueError) {
      for transaction in history.transactions {
        try await transaction.enqueue(deliveries, attributes: ["migrationId": task.migrationId])
        found.transactions += 1
        for name in ["originalTransactionId", "transactionId"] {
          if let covered = transaction.payload[name]?.stringValue { found.covered.insert(covered) }
        }
      }
      if let statuses {
        for (original, entry) in StatusObservation.entries(in: statuses.body) {
          guard let transaction = statuses.payload(of: entry.signedTransactionInfo) else { continue }
          try await enqueue(entry.usable(in: statuses), of: original, transaction, statuses, task)
          found.subscriptions += 1
          payloads.append(transaction)
        }
      }
    } catch { throw .queue(error) }
    for nameless in Set(payloads.filter { $0["bundleId"] == nil }.map { $0["transactionId"]?.stringValue ?? id }).sorted() {
      fail(task, "app-not-named", "Apple signed this transaction without a bundle id; it is used", nameless, &found)
    }
    if problems.isEmpty || before != (found.transactions, found.subscriptions) { found.isUsable = true }
  }

  /// Notes that Apple refuses an id. Throws an error that concerns the other ids too.
  private func refuse(
    _ id: String, _ error: AppStoreServerAPIError, _ task: MigrationTask, _ found: inout Found
  ) throws(LookUpError) {
    switch error.classification {
    case .tryOtherEnvironment, .permanent: fail(task, "refused", error.message, id, code: error.errorCode, &found)
    // Apple asks for a retry of this request. The other ids are looked up first.
    case .retry: found.postponed = error
    case .rate, .server, .credentials, .configuration: throw .call(error)
    }
  }

  /// Queues the status of a subscription in the intake for verifier, unless an event about this status exists.
  private func enqueue(
    _ status: StatusObservation.Entry, of original: String, _ transaction: JSONObject, _ response: AppStoreCalls.Response,
    _ task: MigrationTask
  ) async throws(QueueError) {
    let environment = response.server.rawValue
    let key = StatusObservation.naturalKey(
      environment: environment, originalTransactionId: original, status: status.status, transactionInfo: transaction,
      renewalInfo: status.signedRenewalInfo.flatMap { response.payload(of: $0) })
    let orderKey = NotificationSniffer.orderKey(environment: environment, originalTransactionId: original)
    if try await deliveries.isNaturalKeySeen(key, orderKey: orderKey, long: true) { return }
    let observation = StatusObservation(
      environment: environment, bundleId: task.bundleId, originalTransactionId: original, entry: status, migrationId: task.migrationId)
    _ = try await deliveries.accept(
      AcceptRequest(
        queue: .intake, idempotencyKey: key, orderKey: orderKey, naturalKey: key,
        message: QueueMessage(
          kind: StatusObservation.kind, body: observation.body, receivedAt: WallClock.now(), source: "recovery")))
  }

  // MARK: Results

  /// Records the result of a task, and completes its message. A receipt is migrated if something of it could be used.
  private func finish(_ task: MigrationTask, _ found: Found) async -> WorkOutcome {
    let isMigrated = found.isUsable || found.failures.isEmpty
    do throws(RedisError) {
      try await store.finish(
        task, transactions: found.transactions, subscriptions: found.subscriptions, isMigrated: isMigrated, failures: found.failures)
    } catch { return .retry(after: nil, error: "the migration in Redis cannot be read or written now") }
    let reason = isMigrated ? nil : found.failures.first?.reason
    metrics.countReceipt(reason ?? "migrated")
    return .complete(Completion(state: .done, events: [], reason: reason))
  }

  /// Notes why an id cannot be used. Ids with the same reason share a record.
  private func fail(_ task: MigrationTask, _ reason: String, _ message: String, _ id: String, code: Int64? = nil, _ found: inout Found) {
    if let index = found.failures.firstIndex(where: { $0.reason == reason && $0.message == message && $0.errorCode == code }) {
      found.failures[index].transactionIds.append(id)
    } else {
      found.failures.append(
        MigrationFailureRecord(
          receiptId: task.receiptId, reason: reason, message: message, errorCode: code, transactionIds: [id], failedAt: WallClock.now()))
    }
  }

  /// The retry after a temporary error. Since it states its delay, the number of attempts is not limited (`WorkOutcome.retry`).
  private func wait(for obstacle: LookUpError, _ task: MigrationTask, _ lease: LeasedMessage) -> WorkOutcome {
    let backoff = Duration.milliseconds(
      Int64(min(Self.maxPauseMilliseconds, 1000 * Double(1 << min(lease.attempt, 16))) * Double.random(in: 0.5...1)))
    switch obstacle {
    case .queue(let error): return .retry(after: backoff, error: "\(error)")
    case .call(let error):
      switch error.classification {
      case .rate: return .retry(after: .milliseconds(max(1000, (error.retryAt ?? 0) - WallClock.now())), error: "\(error)")
      case .credentials, .configuration:
        logger.warning(
          "the migration of receipts waits, because Apple refuses our requests",
          metadata: ["migration": "\(task.migrationId)", "reason": "\(error)"])
        return .retry(after: Self.operatorPause, error: "\(error)")
      case .retry, .server, .tryOtherEnvironment, .permanent: return .retry(after: backoff, error: "\(error)")
      }
    }
  }
}
