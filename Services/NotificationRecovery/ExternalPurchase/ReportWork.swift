import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime
import WireJSON

/// One round of a report, as a task of the queue `reports`.
struct ReportTask: Sendable, Hashable {
  /// The kind of the queue's message.
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

/// Works the queue `reports`: sends reports of external purchases to Apple until Apple has accepted or refused them. Before a report is
/// sent again, Apple is asked whether it has it, because Apple refuses a report that it has.
struct ReportWork: Sendable {
  let calls: AppStoreCalls
  let store: ReportStore
  let metrics: RecoveryMetrics
  let logger: Logger

  /// The timeout of a request with all its retries.
  private static let questionTime: Duration = .seconds(60)
  /// The pause after an error that an operator must correct.
  private static let operatorPause: Duration = .seconds(300)
  /// The longest pause while Apple fails, milliseconds.
  private static let widestPause: Double = 600_000

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    guard lease.message.kind == ReportTask.kind, let task = ReportTask(body: lease.message.body) else {
      return .deadLetter(error: "the message is not a report of an external purchase")
    }
    let record: ReportRecord
    let sent: Int64
    do throws(RedisError) {
      guard let known = try await store.record(task.name) else { return .deadLetter(error: "the report is not known any more") }
      guard let before = try await store.attempt(task.name, round: task.round) else {
        return .complete(Completion(state: .done, events: [], reason: "done before"))
      }
      (record, sent) = (known, before)
    } catch { return .retry(after: nil, error: "the store of reports does not answer") }
    guard let app = calls.configuration.app(record.bundleId), app.appStoreServer != nil else {
      let error = "the configuration has no such app, or no key of it for the App Store Server API"
      logger.warning("reports of external purchases wait", metadata: ["app": "\(record.bundleId)", "reason": "\(error)"])
      return await wait(task, Self.operatorPause, reason: error)
    }
    do throws(AppStoreCallFailure) {
      if sent > 0, try await isKnown(record, app) { return await end(task, .accepted) }
      return await send(task, record, app, lease)
    } catch { return await failed(task, error, lease) }
  }

  private func send(_ task: ReportTask, _ record: ReportRecord, _ app: DeploymentConfiguration.App, _ lease: LeasedMessage) async
    -> WorkOutcome
  {
    do throws(AppStoreCallFailure) {
      _ = try await calls.ask(
        .sendExternalPurchaseReport, app: app, server: record.server, body: record.body, deadline: .now + Self.questionTime)
      return await end(task, .accepted)
    } catch {
      let refusal = error
      guard case .apple(let reason) = refusal, reason.classification == .permanent else { return await failed(task, refusal, lease) }
      // Apple refuses a report that it has. An earlier attempt may have arrived after Apple was asked, or another worker may have sent it.
      do throws(AppStoreCallFailure) {
        return try await isKnown(record, app) ? await end(task, .accepted) : await failed(task, refusal, lease)
      } catch { return await failed(task, error, lease) }
    }
  }

  /// True if Apple has this report, and not another one under its identifier.
  private func isKnown(_ record: ReportRecord, _ app: DeploymentConfiguration.App) async throws(AppStoreCallFailure) -> Bool {
    do throws(AppStoreCallFailure) {
      let response = try await calls.ask(
        .retrieveExternalPurchaseReport, app: app, server: record.server, path: [record.requestIdentifier],
        deadline: .now + Self.questionTime)
      return response.body["report"]?.objectValue.map { ExternalPurchaseReport.isSame($0, record.body) } ?? false
    } catch {
      // Apple answers 400 for an unknown report.
      if case .apple(let failure) = error, failure.classification == .permanent { return false }
      throw error
    }
  }

  private func failed(_ task: ReportTask, _ failure: AppStoreCallFailure, _ lease: LeasedMessage) async -> WorkOutcome {
    // Answers about reports have no JWS, so the only failure is an error of Apple's.
    guard case .apple(let error) = failure else { return .retry(after: nil, error: "\(failure)") }
    let backoff = Duration.milliseconds(
      Int64(min(Self.widestPause, 1000 * Double(1 << min(lease.attempt, 16))) * Double.random(in: 0.5...1)))
    switch error.classification {
    case .rate:
      return await wait(task, .milliseconds(max(1000, (error.retryAt ?? 0) - WallClock.now())), reason: "\(error)")
    case .retry, .server: return await wait(task, backoff, reason: "\(error)")
    case .credentials, .configuration:
      logger.warning("reports of external purchases wait, because Apple refuses our requests", metadata: ["reason": "\(error)"])
      return await wait(task, Self.operatorPause, reason: "\(error)")
    case .tryOtherEnvironment, .permanent:
      let errors = (error.details?["errors"]?.arrayValue ?? []).compactMap(\.objectValue)
      let words = errors.first?["errorMessage"]?.stringValue ?? error.message
      return await end(task, .refused, error: words, errors: errors)
    }
  }

  /// Retries later. A retry with a stated delay is never made a dead letter, however often it is repeated, so temporary errors are
  /// retried without limit.
  private func wait(_ task: ReportTask, _ delay: Duration, reason: String) async -> WorkOutcome {
    // If this fails, only the reason is missing in the report.
    try? await store.note(task.name, round: task.round, .waiting, error: reason)
    return .retry(after: delay, error: reason)
  }

  private func end(
    _ task: ReportTask, _ state: ReportRecord.State, error: String? = nil, errors: [JSONObject] = []
  ) async -> WorkOutcome {
    do throws(RedisError) { try await store.note(task.name, round: task.round, state, error: error, errors: errors) } catch {
      return .retry(after: nil, error: "the store of reports does not answer")
    }
    metrics.reported(state.rawValue)
    return .complete(Completion(state: .done, events: [], reason: state == .refused ? "refused" : nil))
  }
}
