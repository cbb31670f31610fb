import AppStore
import AttributionProtocol
import AttributionQueue
import Cryptography
import RedisClient
import ServiceRuntime
import WireJSON

/// Sends a report by Apple's endpoint Send External Purchase Report: stores and queues the report, and waits up to `waitMilliseconds` until
/// ``ReportWork`` has sent it. If Apple has not answered by then, the work continues.
struct SendExternalPurchaseReportHandler: RPCHandler {
  typealias Method = ExternalPurchaseService.SendExternalPurchaseReport
  static let waits = true
  let calls: AppStoreCalls
  let deliveries: DeliveryQueue
  let store: ReportStore

  /// The first and the longest pause between checks for Apple's answer.
  private static let pauses = (first: Duration.milliseconds(40), last: Duration.milliseconds(320))

  func handle(_ request: SendExternalPurchaseReportRequest, _ context: RPCContext) async throws(RPCError)
    -> SendExternalPurchaseReportResponse
  {
    let app = try calls.app(request.bundleId)
    guard let body = request.report else { throw .invalidArgument(field: "report", "is missing") }
    let report = try RetentionCalls.checked(inside: "report") { () throws(RequestRefusal) in
      try ExternalPurchaseReport(body, now: WallClock.now())
    }
    // Only the server that made the token knows it.
    guard try calls.server(request.environment.nonEmpty ?? report.server.rawValue, of: app) == report.server else {
      throw .invalidArgument(
        field: "report.externalPurchaseId", "is a token of the \(report.server == .sandbox ? "sandbox" : "production server")")
    }
    let waitMilliseconds = request.waitMilliseconds ?? 5000
    guard (0...30_000).contains(waitMilliseconds) else { throw .invalidArgument(field: "waitMilliseconds", "must be 0 to 30000") }
    let name = ReportStore.Name(bundleId: app.bundleId, server: report.server, requestIdentifier: report.requestIdentifier)
    let outcome: ReportStore.SubmissionOutcome
    do throws(RedisError) {
      // The digest does not depend on the order of members.
      outcome = try await store.begin(name, body: body, digest: Hex.encode(SHA256Digest.hash(body.canonical)))
    } catch { throw RPCError(error) }
    switch outcome {
    case .accepted: break
    case .reused:
      throw .failedPrecondition("another report was sent with this report.requestIdentifier", reason: "REQUEST_IDENTIFIER_REUSED")
    case .waiting(let round):
      try await queue(ReportTask(name: name, round: round))
    }
    return SendExternalPurchaseReportResponse(
      report: ExternalPurchaseReportRecord(
        try await settled(name, until: min(.now + .milliseconds(Int64(waitMilliseconds)), context.deadline - .milliseconds(200)))))
  }

  /// Queues the round. This is done for a known report too, because the call that stored it may have ended before it was queued. The
  /// idempotency key suppresses a second message.
  private func queue(_ task: ReportTask) async throws(RPCError) {
    do throws(QueueError) {
      _ = try await deliveries.accept(
        AcceptRequest(
          queue: .reports, idempotencyKey: task.idempotencyKey,
          message: QueueMessage(kind: ReportTask.kind, body: task.body, receivedAt: WallClock.now(), source: "rpc")))
    } catch {
      if case .backlogFull = error { throw .unavailable("too many reports wait", reason: "BACKLOG_FULL", retryAfter: .seconds(5)) }
      throw .unavailable("the queue's store is unavailable", reason: "STORE_UNAVAILABLE")
    }
  }

  /// Waits until Apple has accepted or refused the report, or until `moment`, and returns the report.
  private func settled(_ name: ReportStore.Name, until moment: ContinuousClock.Instant) async throws(RPCError) -> ReportRecord {
    var pause = Self.pauses.first
    do throws(RedisError) {
      while try await store.state(name) == .waiting, .now + pause < moment {
        do { try await Task.sleep(for: pause) } catch { break }
        pause = min(pause * 2, Self.pauses.last)
      }
    } catch { throw RPCError(error) }
    return try await store.known(name)
  }
}
