import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime
import WireJSON

/// A round of a report (``ReportRecord/round``), as a message of the queue `reports`.
struct ReportTask: Sendable, Hashable {
  /// The kind of the message.
  static let kind = "report"

  let name: ReportStore.Name
  let round: Int64

  /// The message's body.
  var body: [UInt8] { JSONValue.object(["report": .string(name.text), "round": .integer(round)]).serialized }

  var idempotencyKey: String { "report:\(name.text):\(round)" }
}

extension ReportTask {
  /// Parses a message's body; nil if it is invalid.
  init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body).objectValue, let name = object["report"]?.stringValue.flatMap(ReportStore.Name.init),
      let round = object["round"]?.int64Value
    else { return nil }
    self.init(name: name, round: round)
  }
}

/// Works the queue `reports`: sends reports of external purchases to Apple, until Apple has accepted or refused them. A `ShardWorker` calls
/// ``handle(_:)`` for each message.
///
/// Before a report is sent again, it is requested from Apple, because the last attempt may have succeeded and Apple refuses a report that
/// it has already.
struct ReportWork: Sendable {
  let calls: AppStoreCalls
  let store: ReportStore
  let metrics: RecoveryMetrics
  let logger: Logger

  /// The timeout of a call to Apple with all its retries.
  private static let callTimeout: Duration = .seconds(60)
  /// The pause after an error that an operator must correct.
  private static let operatorPause: Duration = .seconds(300)
  /// The longest pause after a temporary error.
  private static let maxPauseMilliseconds: Double = 600_000

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    guard lease.message.kind == ReportTask.kind, let task = ReportTask(body: lease.message.body) else {
      return .deadLetter(error: "the message is not a report of an external purchase")
    }
    let record: ReportRecord
    let sent: Int64
    do throws(RedisError) {
      guard let known = try await store.record(task.name) else { return .deadLetter(error: "the report is not stored any more") }
      guard let before = try await store.attempt(task.name, round: task.round) else {
        return .complete(Completion(state: .done, events: [], reason: "done before"))
      }
      (record, sent) = (known, before)
    } catch { return .retry(after: nil, error: "the report in Redis cannot be read or written now") }
    guard let app = calls.configuration.app(record.bundleId), app.appStoreServer != nil else {
      let error = "the configuration does not have the app, or has no key for the App Store Server API of it"
      logger.warning("reports of external purchases wait", metadata: ["app": "\(record.bundleId)", "reason": "\(error)"])
      return await wait(task, Self.operatorPause, reason: error)
    }
    do throws(AppStoreServerAPIError) {
      if sent > 0, try await isKnown(record, app) { return await end(task, .accepted) }
      return await send(task, record, app, lease)
    } catch { return await failed(task, error, lease) }
  }

  /// Sends a report once, and returns the outcome of its message.
  private func send(_ task: ReportTask, _ record: ReportRecord, _ app: DeploymentConfiguration.App, _ lease: LeasedMessage) async
    -> WorkOutcome
  {
    do throws(AppStoreServerAPIError) {
      _ = try await calls.ask(
        .sendExternalPurchaseReport, app: app, server: record.server, body: record.body, deadline: .now + Self.callTimeout)
      return await end(task, .accepted)
    } catch {
      let refusal = error
      guard refusal.classification == .permanent else { return await failed(task, refusal, lease) }
      // Apple also refuses a report that it has already: an earlier attempt may have arrived after the report was requested from Apple, or
      // another worker may have sent the report.
      do throws(AppStoreServerAPIError) {
        return try await isKnown(record, app) ? await end(task, .accepted) : await failed(task, refusal, lease)
      } catch { return await failed(task, error, lease) }
    }
  }

  /// Requests the report from Apple. Returns true if Apple has this report, and false if it has none or another one with this identifier.
  private func isKnown(_ record: ReportRecord, _ app: DeploymentConfiguration.App) async throws(AppStoreServerAPIError) -> Bool {
    do throws(AppStoreServerAPIError) {
      let response = try await calls.ask(
        .retrieveExternalPurchaseReport, app: app, server: record.server, path: [record.requestIdentifier],
        deadline: .now + Self.callTimeout)
      return response.body["report"]?.objectValue.map { ExternalPurchaseReport.isSame($0, record.body) } ?? false
    } catch {
      // Apple answers 400 for an unknown report.
      if error.classification == .permanent { return false }
      throw error
    }
  }

  /// The outcome after an error: a retry, or the end of the round if Apple refuses the report.
  private func failed(_ task: ReportTask, _ error: AppStoreServerAPIError, _ lease: LeasedMessage) async -> WorkOutcome {
    let backoff = Duration.milliseconds(
      Int64(min(Self.maxPauseMilliseconds, 1000 * Double(1 << min(lease.attempt, 16))) * Double.random(in: 0.5...1)))
    switch error.classification {
    case .rate:
      return await wait(task, .milliseconds(max(1000, (error.retryAt ?? 0) - WallClock.now())), reason: "\(error)")
    case .retry, .server: return await wait(task, backoff, reason: "\(error)")
    case .credentials, .configuration:
      logger.warning("reports of external purchases wait, because Apple refuses our requests", metadata: ["reason": "\(error)"])
      return await wait(task, Self.operatorPause, reason: "\(error)")
    case .tryOtherEnvironment, .permanent:
      let errors = (error.details?["errors"]?.arrayValue ?? []).compactMap(\.objectValue)
      let message = errors.first?["errorMessage"]?.stringValue ?? error.message
      return await end(task, .refused, error: message, errors: errors)
    }
  }

  /// A retry after a delay. Since the retry states its delay, the number of attempts is not limited (`WorkOutcome.retry`).
  private func wait(_ task: ReportTask, _ delay: Duration, reason: String) async -> WorkOutcome {
    // If this fails, the report only lacks the reason.
    try? await store.note(task.name, round: task.round, .waiting, error: reason)
    return .retry(after: delay, error: reason)
  }

  /// Stores Apple's answer, and completes the message.
  private func end(
    _ task: ReportTask, _ state: ReportRecord.State, error: String? = nil, errors: [JSONObject] = []
  ) async -> WorkOutcome {
    do throws(RedisError) { try await store.note(task.name, round: task.round, state, error: error, errors: errors) } catch {
      return .retry(after: nil, error: "the report in Redis cannot be read or written now")
    }
    metrics.countReport(state.rawValue)
    return .complete(Completion(state: .done, events: [], reason: state == .refused ? "refused" : nil))
  }
}
