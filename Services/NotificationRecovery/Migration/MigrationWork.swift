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
    case call(AppStoreCallFailure)
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
    guard let app = calls.configuration.app(task.bundleId), app.appStoreServer != nil else {
      return await finish(task, Found(), failure(task, "refused", "the app has no key for the App Store Server API"))
    }
    var found = Found()
    do throws(LookUpError) {
      for id in task.ids where !found.covered.contains(id) { try await lookUp(id, app, task, &found) }
    } catch {
      return await end(task, found, error, lease)
    }
    guard found.unknown.isEmpty else {
      return await finish(
        task, found,
        failure(
          task, "no-transaction", "Apple knows no such transaction of this app", found.unknownCode, ids: found.unknown))
    }
    return await finish(task, found, nil)
  }

  private func lookUp(
    _ id: String, _ app: DeploymentConfiguration.App, _ task: MigrationTask, _ found: inout Found
  ) async throws(LookUpError) {
    let history: (server: AppStoreServer, transactions: [TransactionHistory.Transaction])
    let statuses: AppStoreCalls.Response
    do throws(AppStoreCallFailure) {
      history = try await TransactionHistory(calls: calls, app: app, server: task.server ?? app.onlyServer, transactionId: id).all(
        pageTimeout: Self.callTimeout)
      statuses = try await calls.ask(
        .getAllSubscriptionStatuses, app: app, server: history.server, path: [id], deadline: .now + Self.callTimeout)
    } catch {
      guard case .apple(let failure) = error, failure.isUnknownPurchase else { throw .call(error) }
      found.unknown.append(id)
      found.unknownCode = found.unknownCode ?? failure.errorCode
      return
    }
    found.covered.insert(id)
    do throws(QueueError) {
      for transaction in history.transactions {
        try await transaction.enqueue(deliveries, attributes: ["migrationId": task.migrationId])
        found.transactions += 1
        for name in ["originalTransactionId", "transactionId"] {
          if let covered = transaction.payload[name]?.stringValue { found.covered.insert(covered) }
        }
      }
      for (original, entry) in StatusObservation.entries(in: statuses.body) {
        try await enqueue(entry, of: original, statuses, task)
        found.subscriptions += 1
      }
    } catch { throw .queue(error) }
  }

  /// Queues the status of a subscription in the intake for verifier, unless an event about this status exists.
  private func enqueue(
    _ status: StatusObservation.Entry, of original: String, _ response: AppStoreCalls.Response, _ task: MigrationTask
  ) async throws(QueueError) {
    guard let transaction = response.payload(of: status.signedTransactionInfo) else { return }
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

  /// Records the result of a task, and completes its message.
  private func finish(_ task: MigrationTask, _ found: Found, _ failure: MigrationFailureRecord?) async -> WorkOutcome {
    do throws(RedisError) {
      try await store.finish(task, transactions: found.transactions, subscriptions: found.subscriptions, failure: failure)
    } catch { return .retry(after: nil, error: "the migration in Redis cannot be read or written now") }
    metrics.countReceipt(failure?.reason ?? "migrated")
    return .complete(Completion(state: .done, events: [], reason: failure?.reason))
  }

  private func failure(
    _ task: MigrationTask, _ reason: String, _ message: String, _ code: Int64? = nil, ids: [String]? = nil
  ) -> MigrationFailureRecord {
    MigrationFailureRecord(
      receiptId: task.receiptId, reason: reason, message: message, errorCode: code, transactionIds: ids ?? task.ids,
      failedAt: WallClock.now())
  }

  /// The outcome after an error. A permanent error is recorded as the task's result. A temporary one leads to a retry; since the retry
  /// states its delay, the number of attempts is not limited (`WorkOutcome.retry`).
  private func end(_ task: MigrationTask, _ found: Found, _ obstacle: LookUpError, _ lease: LeasedMessage) async -> WorkOutcome {
    let backoff = Duration.milliseconds(
      Int64(min(Self.maxPauseMilliseconds, 1000 * Double(1 << min(lease.attempt, 16))) * Double.random(in: 0.5...1)))
    switch obstacle {
    case .queue(let error): return .retry(after: backoff, error: "\(error)")
    case .call(.unverified(_, let reason)):
      return await finish(
        task, found,
        failure(task, "signed-data-invalid", "Apple's answer contains signed data that cannot be verified: \(reason.rawValue)"))
    case .call(.apple(let error)):
      switch error.classification {
      case .rate: return .retry(after: .milliseconds(max(1000, (error.retryAt ?? 0) - WallClock.now())), error: "\(error)")
      case .retry, .server: return .retry(after: backoff, error: "\(error)")
      case .credentials, .configuration:
        logger.warning(
          "the migration of receipts waits, because Apple refuses our requests",
          metadata: ["migration": "\(task.migrationId)", "reason": "\(error)"])
        return .retry(after: Self.operatorPause, error: "\(error)")
      case .tryOtherEnvironment, .permanent:
        return await finish(task, found, failure(task, "refused", error.message, error.errorCode))
      }
    }
  }
}
