import AppStore
import AttributionProtocol
import AttributionQueue
import Cryptography
import RedisClient
import ServiceRuntime
import WireJSON

/// Apple: Send External Purchase Report. Stores and queues the report, then waits a while for Apple's answer.
struct SendExternalPurchaseReportHandler: RPCHandler {
  typealias Method = ExternalPurchaseService.SendExternalPurchaseReport
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
    // The token's server is the only one that knows it.
    guard try calls.server(request.environment.stated ?? report.server.rawValue, of: app) == report.server else {
      throw .invalidArgument(
        field: "report.externalPurchaseId", "is a token of the \(report.server == .sandbox ? "sandbox" : "production server")")
    }
    let patience = request.waitMilliseconds ?? 5000
    guard (0...30_000).contains(patience) else { throw .invalidArgument(field: "waitMilliseconds", "must be 0 to 30000") }
    let name = ReportStore.Name(bundleId: app.bundleId, server: report.server, requestIdentifier: report.requestIdentifier)
    let outcome: ReportStore.SubmissionOutcome
    do throws(RedisError) {
      // The digest does not depend on the order of members.
      outcome = try await store.begin(name, body: body, digest: Hex.encode(SHA256Digest.hash(body.canonical)))
    } catch { throw RPCError(error) }
    switch outcome {
    case .accepted: break
    case .reused:
      throw .failedPrecondition("another report was sent under this report.requestIdentifier", reason: "REQUEST_IDENTIFIER_REUSED")
    case .waiting(let round):
      try await queue(ReportTask(name: name, round: round))
    }
    return SendExternalPurchaseReportResponse(
      report: ExternalPurchaseReportRecord(
        try await settled(name, until: min(.now + .milliseconds(Int64(patience)), context.deadline - .milliseconds(200)))))
  }

  /// Also for a known report, because the call that stored it may have ended before it was queued.
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

  /// The report when it is settled, or its state at that time.
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

/// The state of a report.
struct GetExternalPurchaseReportHandler: RPCHandler {
  typealias Method = ExternalPurchaseService.GetExternalPurchaseReport
  let calls: AppStoreCalls
  let store: ReportStore

  func handle(_ request: GetExternalPurchaseReportRequest, _ context: RPCContext) async throws(RPCError)
    -> GetExternalPurchaseReportResponse
  {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in try ExternalPurchaseReport.identifier(request.requestIdentifier) }
    return GetExternalPurchaseReportResponse(
      report: ExternalPurchaseReportRecord(
        try await store.known(ReportStore.Name(bundleId: app.bundleId, server: server, requestIdentifier: id))))
  }
}

/// The reports, newest first.
struct ListExternalPurchaseReportsHandler: RPCHandler {
  typealias Method = ExternalPurchaseService.ListExternalPurchaseReports
  let store: ReportStore

  func handle(_ request: ListExternalPurchaseReportsRequest, _ context: RPCContext) async throws(RPCError)
    -> ListExternalPurchaseReportsResponse
  {
    let limit = Int(request.maxReports ?? 100)
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxReports", "must be 1 to 1000") }
    var state: ReportRecord.State?
    if let text = request.state, !text.isEmpty {
      state = ReportRecord.State(rawValue: text)
      guard state != nil else { throw .invalidArgument(field: "state", "must be waiting, accepted or refused") }
    }
    let token = try PageToken.checked(request.pageToken)
    do throws(RedisError) {
      let page = try await store.list(bundleId: request.bundleId, state: state, limit: limit, after: token)
      return ListExternalPurchaseReportsResponse(
        reports: page.reports.map { ExternalPurchaseReportRecord($0) }, nextPageToken: page.next?.text)
    } catch { throw RPCError(error) }
  }
}

/// Apple: Retrieve External Purchase Report.
struct RetrieveExternalPurchaseReportHandler: RPCHandler {
  typealias Method = ExternalPurchaseService.RetrieveExternalPurchaseReport
  let calls: AppStoreCalls

  func handle(_ request: RetrieveExternalPurchaseReportRequest, _ context: RPCContext) async throws(RPCError)
    -> RetrieveExternalPurchaseReportResponse
  {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in try ExternalPurchaseReport.identifier(request.requestIdentifier) }
    do throws(RPCError) {
      let response = try await calls.ask(.retrieveExternalPurchaseReport, app: app, server: server, path: [id], context)
      return RetrieveExternalPurchaseReportResponse(response: response.body, environment: response.server.rawValue)
    } catch {
      // Apple answers 400 for an unknown report. The form of the identifier was checked before.
      guard error.code == .invalidArgument, error.reason == RPCError.refusedByApple else { throw error }
      throw .notFound("Apple has no report under this requestIdentifier", field: "requestIdentifier")
    }
  }
}

extension ReportStore {
  /// The report of that name, for a caller.
  func known(_ name: Name) async throws(RPCError) -> ReportRecord {
    do throws(RedisError) {
      if let record = try await record(name) { return record }
    } catch { throw RPCError(error) }
    throw .notFound("no report was sent under this requestIdentifier", field: "requestIdentifier")
  }
}

extension ExternalPurchaseReportRecord {
  init(_ record: ReportRecord) {
    self.init()
    requestIdentifier = record.requestIdentifier
    externalPurchaseId = record.body["externalPurchaseId"]?.stringValue ?? ""
    bundleId = record.bundleId
    environment = record.server.rawValue
    status = record.body["status"]?.stringValue ?? ""
    lineItems = record.body["lineItems"]?.arrayValue.map { Int32(clamping: $0.count) }
    state = record.state.rawValue
    attempts = Int32(clamping: record.attempts)
    receivedAt = Timestamp(millisecondsSince1970: record.receivedAt)
    completedAt = record.completedAt.map { Timestamp(millisecondsSince1970: $0) }
    lastError = record.lastError
    errors = record.errors.map { error in
      ExternalPurchaseReportError(
        errorCode: error["errorCode"]?.int64Value, errorMessage: error["errorMessage"]?.stringValue ?? "",
        fieldName: error["fieldName"]?.stringValue, lineItemId: error["lineItemId"]?.stringValue)
    }
  }
}

/// All methods of the service.
enum ReportHandlers {
  static func all(_ calls: AppStoreCalls, deliveries: DeliveryQueue, store: ReportStore) -> [any RPCHandler] {
    [
      SendExternalPurchaseReportHandler(calls: calls, deliveries: deliveries, store: store),
      GetExternalPurchaseReportHandler(calls: calls, store: store), ListExternalPurchaseReportsHandler(store: store),
      RetrieveExternalPurchaseReportHandler(calls: calls),
    ]
  }
}
