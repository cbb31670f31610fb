import AppStore
import AttributionQueue
import RedisClient
import ServiceRuntime

/// Stores each gap as a hash, and an index of each app's gaps by time.
struct GapStore: Sendable {
  /// How long a gap is kept, seconds.
  static let keptSeconds: Int64 = 180 * 86_400

  let redis: RedisClient

  private static func id(_ key: String) -> String { RecoveryID.make(["gap", key]) }
  private static func key(_ id: String) -> String { Keys.own("recovery", "gap:\(id)", shardOf: id) }
  private static func index(_ bundleId: String) -> String { Keys.own("recovery", "gaps:\(bundleId)", shardOf: bundleId) }

  private static let begin = RedisScript(name: "recovery_gap_begin", source: PackageResources.gap_begin_lua)

  /// Records a gap whose look-up begins. Returns false if this delivery has settled it before.
  func begin(_ report: GapReport, delivery: String) async throws(RedisError) -> Bool {
    let id = Self.id(report.key)
    let isOpen =
      try await Self.begin.run(
        on: redis, keys: [Self.key(id)],
        arguments: [.string(delivery), .bytes(report.body), .integer(report.foundAt), .integer(Self.keptSeconds)]
      ).integer == 1
    let index = Self.index(report.bundleId ?? "")
    try await redis.send(["ZADD", .string(index), "NX", .integer(report.foundAt), .string(id)])
    try await redis.send(["ZREMRANGEBYSCORE", .string(index), "-inf", .integer(WallClock.now() - Self.keptSeconds * 1000)])
    try await redis.send(["EXPIRE", .string(index), .integer(Self.keptSeconds)])
    return isOpen
  }

  /// Records why the look-up has to wait; nil if it does not.
  func note(_ report: GapReport, error: String?) async throws(RedisError) {
    let key = Self.key(Self.id(report.key))
    if let error {
      try await redis.send(["HSET", .string(key), "error", .string(error)])
    } else {
      try await redis.send(["HDEL", .string(key), "error"])
    }
  }

  /// Records the number of notifications that the look-up found.
  func found(_ report: GapReport, notifications: Int) async throws(RedisError) {
    try await redis.send(["HSET", .string(Self.key(Self.id(report.key))), "notifications", .integer(Int64(notifications))])
  }

  /// Records the end of a gap.
  func settle(_ settlement: GapSettlement, now: Int64) async throws(RedisError) {
    var words: [RedisArgument] = [
      "HSET", .string(Self.key(Self.id(settlement.key))), "state", .string(settlement.state.rawValue), "completedAt", .integer(now),
    ]
    if let by = settlement.repairedBy { words += ["repairedBy", .string(by)] }
    if let state = settlement.observedState { words += ["observedState", .string(state)] }
    if let reason = settlement.reason { words += ["error", .string(reason)] }
    try await redis.send(words)
  }

  /// A page of an app's gaps, newest first, and where the next one begins; nil when there is none.
  func list(bundleId: String, state: String?, limit: Int, after token: PageToken?) async throws(RedisError) -> (
    gaps: [GapRecord], next: PageToken?
  ) {
    var found: [GapRecord] = []
    var last = token
    let step = 200
    while true {
      // Entries come in descending order of score and then of name. Those up to the token's position are skipped.
      let reply = try await redis.send([
        "ZREVRANGEBYSCORE", .string(Self.index(bundleId)), last.map { .integer($0.moment) } ?? "+inf", "-inf", "WITHSCORES", "LIMIT",
        .integer(Int64(last?.offset ?? 0)), .integer(Int64(step)),
      ])
      let words = (reply.array ?? []).compactMap(\.string)
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        let score = Int64(Double(words[index + 1]) ?? 0)
        if found.count == limit { return (found, last) }
        last = PageToken.behind(score, last)
        if let gap = try await record(words[index]), state == nil || gap.state == state { found.append(gap) }
      }
      if words.count < 2 * step { return (found, nil) }
    }
  }

  private func record(_ id: String) async throws(RedisError) -> GapRecord? {
    let reply = try await redis.send(["HGETALL", .string(Self.key(id))])
    var fields: [String: RedisReply] = [:]
    let words = reply.array ?? []
    for index in stride(from: 0, to: words.count - 1, by: 2) { fields[words[index].string ?? ""] = words[index + 1] }
    guard let report = fields["report"]?.bytes.flatMap({ GapReport(body: $0) }), let state = fields["state"]?.string else { return nil }
    return GapRecord(
      report: report, state: state, suspectedAt: fields["suspectedAt"]?.integer ?? report.foundAt,
      notifications: fields["notifications"]?.integer ?? 0, completedAt: fields["completedAt"]?.integer,
      repairedBy: fields["repairedBy"]?.string, observedState: fields["observedState"]?.string, error: fields["error"]?.string)
  }
}

/// A gap and its state. Times are milliseconds since 1970.
struct GapRecord: Sendable, Hashable {
  let report: GapReport
  /// `suspected`, `recovered` or `unrecoverable`.
  let state: String
  let suspectedAt: Int64
  let notifications: Int64
  let completedAt: Int64?
  let repairedBy: String?
  let observedState: String?
  let error: String?
}
