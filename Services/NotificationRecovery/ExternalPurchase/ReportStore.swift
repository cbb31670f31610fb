import AppStore
import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// A report of an external purchase token and its state. Times are milliseconds since 1970.
struct ReportRecord: Sendable, Hashable {
  enum State: String, Sendable, CaseIterable {
    /// Apple has not accepted or refused it yet.
    case waiting
    case accepted
    case refused
  }

  let bundleId: String
  let server: AppStoreServer
  let requestIdentifier: String
  let body: JSONObject
  let state: State
  /// The number of submissions. A refused report may be corrected and submitted again under its identifier.
  let round: Int64
  let attempts: Int64
  let receivedAt: Int64
  let completedAt: Int64?
  let lastError: String?
  /// Apple's errors, unchanged.
  let errors: [JSONObject]
}

/// The reports in Redis, a hash each, and indexes of their names by time.
struct ReportStore: Sendable {
  /// How long a report is kept, seconds.
  static let keptSeconds: Int64 = 365 * 86_400

  let redis: RedisClient

  /// The name of a report. The two servers have separate reports.
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

    init?(_ text: String) {
      let parts = text.split(separator: " ")
      guard parts.count == 3, let server = AppStoreServer(rawValue: String(parts[0])) else { return nil }
      self.init(bundleId: String(parts[2]), server: server, requestIdentifier: String(parts[1]))
    }
  }

  /// The outcome of a submission.
  enum SubmissionOutcome: Sendable, Hashable {
    /// The report is to be sent to Apple, or being sent; with the number of its round.
    case waiting(round: Int64)
    /// Apple has it.
    case accepted
    /// Another report with this identifier waits or was accepted.
    case reused
  }

  private static func key(_ name: Name) -> String { Keys.own("recovery", "report:\(name.text)", shardOf: name.text) }

  /// The index of all reports, or of those in one state. Waiting and refused ones have their own, because searching for them among the
  /// accepted ones would take long.
  private func list(_ state: ReportRecord.State?) -> StartTimeIndex {
    let name = state == nil || state == .accepted ? "reports" : "reports-\(state?.rawValue ?? "")"
    return StartTimeIndex(redis: redis, name: name, shardOf: name)
  }

  private static let begin = RedisScript(name: "report_begin", source: PackageResources.report_begin_lua)
  private static let attempt = RedisScript(name: "report_attempt", source: PackageResources.report_attempt_lua)
  private static let note = RedisScript(name: "report_note", source: PackageResources.report_note_lua)

  /// Stores a report, unless it is known.
  func begin(_ name: Name, body: JSONObject, digest: String) async throws(RedisError) -> SubmissionOutcome {
    let now = WallClock.now()
    let reply = try await Self.begin.run(
      on: redis, keys: [Self.key(name)],
      arguments: [.string(digest), .bytes(JSONValue.object(body).serialized), .integer(now), .integer(Self.keptSeconds)])
    let parts = (reply.array ?? []).compactMap(\.integer)
    for list in [list(nil), list(.waiting), list(.refused)] {
      try await list.forget(before: now - Self.keptSeconds * 1000, of: name.bundleId)
    }
    try await list(nil).add(name.text, of: name.bundleId, startedAt: now)
    switch parts.first {
    case 1 where parts.count == 2:
      try await list(.waiting).add(name.text, of: name.bundleId, startedAt: now)
      try await list(.refused).remove(name.text, of: name.bundleId)
      return .waiting(round: parts[1])
    case 2: return .accepted
    case 3: return .reused
    default: throw .unexpectedReply("report_begin")
    }
  }

  /// Counts an attempt to send a report before it is made. Returns the number of earlier attempts; nil if the round is over.
  func attempt(_ name: Name, round: Int64) async throws(RedisError) -> Int64? {
    let reply = try await Self.attempt.run(on: redis, keys: [Self.key(name)], arguments: [.integer(round)])
    guard let sent = reply.integer else { throw .unexpectedReply("report_attempt") }
    return sent < 0 ? nil : sent
  }

  /// Stores Apple's answer.
  func note(
    _ name: Name, round: Int64, _ state: ReportRecord.State, error: String? = nil, errors: [JSONObject] = []
  ) async throws(RedisError) {
    // Indexes are changed before and after the record. A crash in between leaves an extra name, which is skipped.
    if state == .refused { try await list(.refused).add(name.text, of: name.bundleId, startedAt: WallClock.now()) }
    _ = try await Self.note.run(
      on: redis, keys: [Self.key(name)],
      arguments: [
        .integer(round), .string(state.rawValue), .string(state == .waiting ? "" : String(WallClock.now())), .string(error ?? ""),
        .bytes(JSONValue.array(errors.map { .object($0) }).serialized),
      ])
    if state != .waiting { try await list(.waiting).remove(name.text, of: name.bundleId) }
  }

  /// Nil if there is no such report.
  func state(_ name: Name) async throws(RedisError) -> ReportRecord.State? {
    try await redis.send(["HGET", .string(Self.key(name)), "state"]).string.flatMap(ReportRecord.State.init(rawValue:))
  }

  func record(_ name: Name) async throws(RedisError) -> ReportRecord? {
    let words = try await redis.send(["HGETALL", .string(Self.key(name))]).array ?? []
    var fields: [String: RedisReply] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) { fields[words[index].string ?? ""] = words[index + 1] }
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

  /// A page of an app's reports, or of all, newest first, and where the next one begins; nil when there is none.
  func list(
    bundleId: String?, state: ReportRecord.State?, limit: Int, after token: PageToken?
  ) async throws(RedisError) -> (reports: [ReportRecord], next: PageToken?) {
    let page = try await list(state).page(of: bundleId, limit: limit, after: token) { (names) async throws(RedisError) -> [ReportRecord?] in
      try await ConcurrentQueries.all(names) { (text) async throws(RedisError) -> ReportRecord? in
        guard let name = Name(text), let record = try await record(name) else { return nil }
        return state == nil || record.state == state ? record : nil
      }
    }
    return (page.entries, page.next)
  }
}
