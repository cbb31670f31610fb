import AppStore
import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// A report about an external purchase token, and its state. Times are milliseconds since 1970.
struct ReportRecord: Sendable, Hashable {
  enum State: String, Sendable, CaseIterable {
    /// Apple has neither accepted nor refused the report yet.
    case waiting
    case accepted
    case refused
  }

  let bundleId: String
  let server: AppStoreServer
  let requestIdentifier: String
  /// Apple's object, as the caller sent it.
  let body: JSONObject
  let state: State
  /// The number of the current round. A round begins when a caller submits the report. A refused report may be corrected and submitted
  /// again with the same identifier.
  let round: Int64
  /// The number of attempts to send the report in this round.
  let attempts: Int64
  /// When this round began.
  let receivedAt: Int64
  let completedAt: Int64?
  let lastError: String?
  /// The errors in Apple's refusal, unchanged.
  let errors: [JSONObject]
}

/// Stores the reports in Redis: a hash for each report, and indexes of the reports' names by time. `SendExternalPurchaseReportHandler`
/// begins a round, and ``ReportWork`` sends the report and stores Apple's answer.
struct ReportStore: Sendable {
  /// How long a report is stored after the beginning of its last round, seconds.
  static let keptSeconds: Int64 = 365 * 86_400

  let redis: RedisClient

  /// The name of a report. It contains the server, because the reports of production and of the sandbox are separate.
  struct Name: Sendable, Hashable {
    let bundleId: String
    let server: AppStoreServer
    let requestIdentifier: String

    var text: String { "\(server.rawValue) \(requestIdentifier) \(bundleId)" }

    init(bundleId: String, server: AppStoreServer, requestIdentifier: String) {
      self.bundleId = bundleId
      self.server = server
      self.requestIdentifier = requestIdentifier
    }

    /// Parses ``text``; nil if it is not a name.
    init?(_ text: String) {
      let parts = text.split(separator: " ")
      guard parts.count == 3, let server = AppStoreServer(rawValue: String(parts[0])) else { return nil }
      self.init(bundleId: String(parts[2]), server: server, requestIdentifier: String(parts[1]))
    }
  }

  /// The outcome of a submission.
  enum SubmissionOutcome: Sendable, Hashable {
    /// The report must be sent to Apple in this round.
    case waiting(round: Int64)
    /// Apple has accepted the report before.
    case accepted
    /// Another report with the same identifier waits or was accepted.
    case reused
  }

  private static func key(_ name: Name) -> String { Keys.own("recovery", "report:\(name.text)", shardOf: name.text) }

  /// The index in which the reports with a state are listed; nil for the index of all reports. Waiting and refused reports have an index of
  /// their own, because searching for them among many accepted ones would take long.
  private func index(_ state: ReportRecord.State?) -> StartTimeIndex {
    let name = state == nil || state == .accepted ? "reports" : "reports-\(state?.rawValue ?? "")"
    return StartTimeIndex(redis: redis, name: name, shardOf: name)
  }

  private static let begin = RedisScript(name: "report_begin", source: PackageResources.report_begin_lua)
  private static let attempt = RedisScript(name: "report_attempt", source: PackageResources.report_attempt_lua)
  private static let note = RedisScript(name: "report_note", source: PackageResources.report_note_lua)

  /// Stores a report and begins a round, unless the report waits already or was accepted.
  func begin(_ name: Name, body: JSONObject, digest: String) async throws(RedisError) -> SubmissionOutcome {
    let now = WallClock.now()
    let reply = try await Self.begin.run(
      on: redis, keys: [Self.key(name)],
      arguments: [.string(digest), .bytes(JSONValue.object(body).serialized), .integer(now), .integer(Self.keptSeconds)])
    let parts = (reply.array ?? []).compactMap(\.integer)
    for index in [index(nil), index(.waiting), index(.refused)] {
      try await index.forget(before: now - Self.keptSeconds * 1000, of: name.bundleId)
    }
    try await index(nil).add(name.text, of: name.bundleId, startedAt: now)
    switch parts.first {
    case 1 where parts.count == 2:
      try await index(.waiting).add(name.text, of: name.bundleId, startedAt: now)
      try await index(.refused).remove(name.text, of: name.bundleId)
      return .waiting(round: parts[1])
    case 2: return .accepted
    case 3: return .reused
    default: throw .unexpectedReply("report_begin")
    }
  }

  /// Counts an attempt to send a report, before the attempt is made. Returns the number of earlier attempts in the round; nil if the round
  /// is over.
  func attempt(_ name: Name, round: Int64) async throws(RedisError) -> Int64? {
    let reply = try await Self.attempt.run(on: redis, keys: [Self.key(name)], arguments: [.integer(round)])
    guard let sent = reply.integer else { throw .unexpectedReply("report_attempt") }
    return sent < 0 ? nil : sent
  }

  /// Stores Apple's answer, or why there is none yet (state `waiting`). Does nothing if the round is over.
  func note(
    _ name: Name, round: Int64, _ state: ReportRecord.State, error: String? = nil, errors: [JSONObject] = []
  ) async throws(RedisError) {
    // A name is added to an index before the record changes, and removed after it. If this process crashes in between, an index contains a
    // name whose record has another state; lists skip it.
    if state == .refused { try await index(.refused).add(name.text, of: name.bundleId, startedAt: WallClock.now()) }
    _ = try await Self.note.run(
      on: redis, keys: [Self.key(name)],
      arguments: [
        .integer(round), .string(state.rawValue), .string(state == .waiting ? "" : String(WallClock.now())), .string(error ?? ""),
        .bytes(JSONValue.array(errors.map { .object($0) }).serialized),
      ])
    if state != .waiting { try await index(.waiting).remove(name.text, of: name.bundleId) }
  }

  /// Reads the state of a report; nil if there is no such report.
  func state(_ name: Name) async throws(RedisError) -> ReportRecord.State? {
    try await redis.send(["HGET", .string(Self.key(name)), "state"]).string.flatMap(ReportRecord.State.init(rawValue:))
  }

  /// Reads a report; nil if there is none.
  func record(_ name: Name) async throws(RedisError) -> ReportRecord? {
    let pairs = try await redis.send(["HGETALL", .string(Self.key(name))]).array ?? []
    var fields: [String: RedisReply] = [:]
    for index in stride(from: 0, to: pairs.count - 1, by: 2) { fields[pairs[index].string ?? ""] = pairs[index + 1] }
    func parsed(_ name: String) -> JSONValue? {
      fields[name]?.bytes.flatMap { try? JSONValue(parsing: $0, limits: .ownDocuments) }
    }
    guard let state = fields["state"]?.string.flatMap(ReportRecord.State.init(rawValue:)), let body = parsed("body")?.objectValue else {
      return nil
    }
    return ReportRecord(
      bundleId: name.bundleId, server: name.server, requestIdentifier: name.requestIdentifier, body: body, state: state,
      round: fields["round"]?.integer ?? 0, attempts: fields["attempts"]?.integer ?? 0, receivedAt: fields["receivedAt"]?.integer ?? 0,
      completedAt: fields["completedAt"]?.integer, lastError: fields["error"]?.string.flatMap { $0.isEmpty ? nil : $0 },
      errors: (parsed("errors")?.arrayValue ?? []).compactMap(\.objectValue))
  }

  /// A page of the reports of an app, or of all apps if `bundleId` is nil, newest first. `next` is the start of the next page; nil on the
  /// last one.
  func list(
    bundleId: String?, state: ReportRecord.State?, limit: Int, after token: PageToken?
  ) async throws(RedisError) -> (reports: [ReportRecord], next: PageToken?) {
    let index = index(state)
    let page = try await index.page(of: bundleId, limit: limit, after: token) { (names) async throws(RedisError) -> [ReportRecord?] in
      try await ConcurrentQueries.all(names) { (text) async throws(RedisError) -> ReportRecord? in
        guard let name = Name(text), let record = try await record(name) else { return nil }
        return state == nil || record.state == state ? record : nil
      }
    }
    return (page.entries, page.next)
  }
}
