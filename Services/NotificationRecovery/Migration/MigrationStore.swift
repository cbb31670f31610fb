import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// Stores migrations in Redis: counts, the result of each batch of receipts, known and finished purchases, and failures. All keys of a
/// migration are in one shard. A step that is repeated after a crash is counted once.
///
/// `MigrateReceiptsHandler` adds batches of receipts, ``MigrationWork`` reads the state of each task and finishes it. The scripts are in
/// `Scripts/Migration`.
struct MigrationStore: Sendable {
  /// The number of sets over which the purchases of a migration are distributed, so that each set stays small enough for Redis' compact
  /// encoding of integers (`set-max-intset-entries`, 512 by default): a million receipts are about 250 members in each set.
  private static let buckets: Int64 = 4096

  let redis: RedisClient
  let settings: MigrationSettings

  /// The minimum time for which a migration with waiting receipts is stored, seconds. A paused queue or a refused key may delay it for
  /// long.
  private static let minWaitingSeconds: Int64 = 180 * 86_400

  private var keptSeconds: Int64 { settings.kept.components.seconds }
  private var waitingSeconds: Int64 { max(keptSeconds, Self.minWaitingSeconds) }

  private var started: StartTimeIndex { StartTimeIndex(redis: redis, name: "migrations", shardOf: "migrations") }

  private static func key(_ id: String, _ name: String = "") -> String {
    Keys.own("recovery", "migration:\(id)" + (name.isEmpty ? "" : ":" + name), shardOf: id)
  }

  /// The key of the set that contains a purchase. `name`: `in` for known purchases, `done` for finished ones.
  private static func bucket(_ id: String, _ name: String, _ member: Int64) -> String {
    key(id, "\(name):\(UInt64(bitPattern: member) % UInt64(buckets))")
  }

  private static let add = waitingScript("migration_add", PackageResources.migration_add_lua)
  private static let finish = waitingScript("migration_finish", PackageResources.migration_finish_lua)
  private static let cancel = waitingScript("migration_cancel", PackageResources.migration_cancel_lua)
  private static let readTaskState = RedisScript(name: "migration_standing", source: PackageResources.migration_task_state_lua)

  /// A script that uses the functions of `migration_waiting.lua`.
  private static func waitingScript(_ name: String, _ source: [UInt8]) -> RedisScript {
    RedisScript(name: name, source: PackageResources.migration_waiting_lua + source)
  }

  /// The state of a task, by the number that `migration_task_state.lua` returns.
  enum TaskState: Int64 {
    case open = 0
    case finished = 1
    /// The task's migration was cancelled, so the purchases are not looked up.
    case cancelled = 2
  }

  /// The result of adding a batch.
  enum Addition: Sendable, Hashable {
    /// For each task, true if it is new to the migration.
    case added([Bool])
    /// The migration belongs to another app; nothing was added.
    case ofAnotherApp
    /// The migration was cancelled; nothing was added.
    case cancelled
  }

  /// Adds a batch of receipts: counts them and stores their tasks and failures. A batch that was added before is not added again.
  func add(
    _ id: String, batch: String, bundleId: String, receipts: Int, noPurchase: Int, failures: [MigrationFailureRecord],
    tasks: [MigrationTask]
  ) async throws(RedisError) -> Addition {
    let members = tasks.map(\.member)
    let now = WallClock.now()
    let reply = try await Self.add.run(
      on: redis, keys: [Self.key(id), Self.key(id, "batches"), Self.key(id, "failures")] + members.map { Self.bucket(id, "in", $0) },
      arguments: [
        .string(batch), .integer(now), .integer(keptSeconds), .integer(waitingSeconds), .string(bundleId), .integer(Int64(receipts)),
        .integer(Int64(noPurchase)), .integer(Int64(settings.failures)), .integer(Int64(failures.count)),
      ] + failures.map { .bytes($0.json) } + members.map { .integer($0) })
    switch reply.integer {
    case -1: return .ofAnotherApp
    case -2: return .cancelled
    default: break
    }
    try await started.add(id, of: bundleId, startedAt: now)
    // A migration that started long ago may still be stored, because each batch and each result extends its time to live.
    try await started.forgetSome(before: now - keptSeconds * 1000, of: bundleId) { (id) async throws(RedisError) in
      try await redis.send(["EXISTS", .string(Self.key(id))]).integer == 0
    }
    let flags = Array((reply.string ?? "").utf8)
    guard flags.count == members.count else { throw .unexpectedReply("migration_add") }
    return .added(flags.map { $0 == UInt8(ascii: "1") })
  }

  /// Counts the result of a task. A task that was counted before is not counted again.
  ///
  /// - Parameters:
  ///   - isMigrated: false if nothing of the receipt could be used.
  ///   - failures: why ids or signed transactions of the receipt could not be used.
  func finish(
    _ task: MigrationTask, transactions: Int, subscriptions: Int, isMigrated: Bool, failures: [MigrationFailureRecord]
  ) async throws(RedisError) {
    let id = task.migrationId
    let partial: Int64 = isMigrated ? failures.reduce(0) { $0 + Int64(max(1, $1.transactionIds.count)) } : 0
    let records: [RedisArgument] = failures.map { .bytes($0.json) }
    _ = try await Self.finish.run(
      on: redis,
      keys: [
        Self.key(id), Self.key(id, "batches"), Self.key(id, "failures"), Self.bucket(id, "done", task.member),
        Self.bucket(id, "in", task.member),
      ],
      arguments: [
        .integer(task.member), .integer(WallClock.now()), .integer(keptSeconds), .integer(waitingSeconds), .integer(Int64(transactions)),
        .integer(Int64(subscriptions)), .integer(Int64(settings.failures)), .string(isMigrated ? "migrated" : "refused"), .integer(partial),
      ] + records)
  }

  /// Cancels a migration if receipts wait in it. Otherwise it is not changed.
  func cancel(_ id: String) async throws(RedisError) {
    _ = try await Self.cancel.run(on: redis, keys: [Self.key(id)], arguments: [.integer(WallClock.now())])
  }

  /// Reads the state of a task.
  func state(of task: MigrationTask) async throws(RedisError) -> TaskState {
    let reply = try await Self.readTaskState.run(
      on: redis, keys: [Self.key(task.migrationId), Self.bucket(task.migrationId, "done", task.member)],
      arguments: [.integer(task.member)])
    guard let state = reply.integer.flatMap(TaskState.init(rawValue:)) else { throw .unexpectedReply("migration_standing") }
    return state
  }

  /// Reads a migration; nil if there is none.
  func migration(_ id: String) async throws(RedisError) -> MigrationRecord? {
    let pairs = try await redis.send(["HGETALL", .string(Self.key(id))]).array ?? []
    var fields: [String: RedisReply] = [:]
    for index in stride(from: 0, to: pairs.count - 1, by: 2) { fields[pairs[index].string ?? ""] = pairs[index + 1] }
    guard let bundleId = fields["bundleId"]?.string, let startedAt = fields["startedAt"]?.integer else { return nil }
    func count(_ name: String) -> Int64 { fields[name]?.integer ?? 0 }
    return MigrationRecord(
      id: id, bundleId: bundleId, startedAt: startedAt, updatedAt: fields["updatedAt"]?.integer ?? startedAt, receipts: count("receipts"),
      duplicates: count("duplicates"), noPurchase: count("noPurchase"), unreadable: count("unreadable"), queued: count("queued"),
      migrated: count("migrated"), refused: count("refused"), transactions: count("transactions"), subscriptions: count("subscriptions"),
      partialFailures: count("partialFailures"), failuresNotKept: count("notKept"), cancelledAt: fields["cancelledAt"]?.integer)
  }

  /// A page of the migrations of an app, or of all apps if `bundleId` is nil, newest first. `next` is the start of the next page; nil on
  /// the last one.
  func list(
    bundleId: String?, limit: Int, after token: PageToken?
  ) async throws(RedisError) -> (migrations: [MigrationRecord], next: PageToken?) {
    let started = started
    if bundleId != nil {
      try await started.completeAppIndexes { (id) async throws(RedisError) in
        try await redis.send(["HGET", .string(Self.key(id)), "bundleId"]).string
      }
    }
    let page = try await started.page(of: bundleId, limit: limit, after: token) { (ids) async throws(RedisError) -> [MigrationRecord?] in
      try await ConcurrentQueries.all(ids) { (id) async throws(RedisError) in
        // After a migration has expired, another app may use its name.
        try await migration(id).flatMap { bundleId == nil || $0.bundleId == bundleId ? $0 : nil }
      }
    }
    return (page.entries, page.next)
  }

  /// A page of a migration's failures, oldest first. `next` is the id of the stream entry after which the next page begins; nil on the
  /// last.
  func failures(_ id: String, limit: Int, after entryId: String?) async throws(RedisError) -> (
    failures: [MigrationFailureRecord], next: String?
  ) {
    let reply = try await redis.send([
      "XRANGE", .string(Self.key(id, "failures")), entryId.map { .string("(" + $0) } ?? "-", "+", "COUNT", .integer(Int64(limit + 1)),
    ])
    var entryIds: [String] = []
    var failures: [MigrationFailureRecord] = []
    for entry in (reply.array ?? []).prefix(limit) {
      guard let parts = entry.array, parts.count == 2, let entryId = parts[0].string, let bytes = parts[1].array?.last?.bytes,
        let failure = MigrationFailureRecord(json: bytes)
      else { continue }
      entryIds.append(entryId)
      failures.append(failure)
    }
    return (failures, (reply.array?.count ?? 0) > limit ? entryIds.last : nil)
  }
}
