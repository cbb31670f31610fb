import AppStore
import AttributionQueue
import RedisClient
import ServiceRuntime

/// Stores gaps in Redis: a hash for each gap, and for each app an index of its gaps by the time at which they were found. ``GapWork``
/// writes them, ``ListGapsHandler`` reads them.
struct GapStore: Sendable {
  /// How long a gap is stored after it was last reported, seconds.
  static let keptSeconds: Int64 = 180 * 86_400

  let redis: RedisClient

  private static func id(_ key: String) -> String { RecoveryID.make(["gap", key]) }
  private static func key(_ id: String) -> String { Keys.own("recovery", "gap:\(id)", shardOf: id) }
  private static func index(_ bundleId: String) -> String { Keys.own("recovery", "gaps:\(bundleId)", shardOf: bundleId) }

  private static let begin = RedisScript(name: "recovery_gap_begin", source: PackageResources.gap_begin_lua)

  /// Records a gap whose look-up begins. Returns false if the gap that this delivery reported is settled already.
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

  /// Records the error because of which the look-up has to wait; nil removes an earlier one.
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

  /// Records the end of a gap. `now`: milliseconds since 1970.
  func settle(_ settlement: GapSettlement, now: Int64) async throws(RedisError) {
    var command: [RedisArgument] = [
      "HSET", .string(Self.key(Self.id(settlement.key))), "state", .string(settlement.state.rawValue), "completedAt", .integer(now),
    ]
    if let by = settlement.repairedBy { command += ["repairedBy", .string(by)] }
    if let state = settlement.observedState { command += ["observedState", .string(state)] }
    if let reason = settlement.reason { command += ["error", .string(reason)] }
    try await redis.send(command)
  }

  /// A page of an app's gaps, newest first. `next` is the start of the next page; nil on the last one.
  ///
  /// - Parameter state: nil returns gaps in every state.
  func list(bundleId: String, state: String?, limit: Int, after token: PageToken?) async throws(RedisError) -> (
    gaps: [GapRecord], next: PageToken?
  ) {
    var found: [GapRecord] = []
    var position = token
    let step = 200
    while true {
      // Redis returns entries in descending order of score and then of name. The entries up to the token's position are skipped.
      let reply = try await redis.send([
        "ZREVRANGEBYSCORE", .string(Self.index(bundleId)), position.map { .integer($0.moment) } ?? "+inf", "-inf", "WITHSCORES", "LIMIT",
        .integer(Int64(position?.offset ?? 0)), .integer(Int64(step)),
      ])
      let pairs = (reply.array ?? []).compactMap(\.string)
      for index in stride(from: 0, to: pairs.count - 1, by: 2) {
        let score = Int64(Double(pairs[index + 1]) ?? 0)
        if found.count == limit { return (found, position) }
        position = PageToken.after(score, previous: position)
        if let gap = try await record(pairs[index]), state == nil || gap.state == state { found.append(gap) }
      }
      if pairs.count < 2 * step { return (found, nil) }
    }
  }

  private func record(_ id: String) async throws(RedisError) -> GapRecord? {
    let reply = try await redis.send(["HGETALL", .string(Self.key(id))])
    var fields: [String: RedisReply] = [:]
    let pairs = reply.array ?? []
    for index in stride(from: 0, to: pairs.count - 1, by: 2) { fields[pairs[index].string ?? ""] = pairs[index + 1] }
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
  /// The number of notifications that the look-up found.
  let notifications: Int64
  let completedAt: Int64?
  /// `notifications` or `status`; nil if nothing repaired the history.
  let repairedBy: String?
  /// The subscription's state after the gap was settled.
  let observedState: String?
  /// Why the look-up waits, or why it failed.
  let error: String?
}
