import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// Migrations in Redis: counts, the result of each batch of receipts, known and finished purchases, and failures. All keys of a migration
/// are in one shard. Every count is made once, even if a step is repeated after a crash.
struct MigrationStore: Sendable {
  /// The number of sets over which purchases are distributed, so that each remains an integer set: about 250 in each for a million
  /// receipts.
  private static let buckets: Int64 = 4096

  let redis: RedisClient
  let settings: MigrationSettings

  /// How long a migration with waiting receipts is kept at least, seconds, because a paused queue or a refused key may delay it.
  private static let minWaitingSeconds: Int64 = 180 * 86_400

  private var keptSeconds: Int64 { settings.kept.components.seconds }
  private var waitingSeconds: Int64 { max(keptSeconds, Self.minWaitingSeconds) }

  private var started: StartTimeIndex { StartTimeIndex(redis: redis, name: "migrations", shardOf: "migrations") }

  private static func key(_ id: String, _ name: String = "") -> String {
    Keys.own("recovery", "migration:\(id)" + (name.isEmpty ? "" : ":" + name), shardOf: id)
  }

  private static func bucket(_ id: String, _ name: String, _ member: Int64) -> String {
    key(id, "\(name):\(UInt64(bitPattern: member) % UInt64(buckets))")
  }

  // Sets `live`: how long all keys of a migration are kept, which depends on whether purchases wait. ARGV 3 seconds to live  4 seconds to
  // live while purchases wait.
  private static let timeToLive = """
    local counts = redis.call('HMGET', KEYS[1], 'queued', 'migrated', 'refused')
    local waiting = tonumber(counts[1] or 0) - tonumber(counts[2] or 0) - tonumber(counts[3] or 0)
    local live = waiting > 0 and ARGV[4] or ARGV[3]
    """

  // KEYS 1 counts  2 batches  3 failures  then a bucket for each purchase. ARGV 1 batch  2 now, ms  3 seconds to live  4 seconds to live
  // while purchases wait  5 app  6 receipts  7 without a purchase  8 the greatest number of failures  9 the number of failures that follow,
  // then these, then the purchases.
  // Returns, as one text, 1 for each purchase that is new to the migration and 0 for the others; the same batch returns the same again.
  // Returns -1 for another app's migration, -2 for a cancelled one.
  private static let add = RedisScript(
    name: "migration_add",
    source: """
      local app = redis.call('HGET', KEYS[1], 'bundleId')
      if app and app ~= ARGV[5] then return -1 end
      local answered = redis.call('HGET', KEYS[2], ARGV[1])
      if answered then return answered end
      if redis.call('HEXISTS', KEYS[1], 'cancelledAt') == 1 then return -2 end
      local failures = tonumber(ARGV[9])
      local flags = {}
      local queued = 0
      for index = 4, #KEYS do
        local new = redis.call('SADD', KEYS[index], ARGV[9 + failures + index - 3])
        flags[#flags + 1] = tostring(new)
        queued = queued + new
      end
      redis.call('HSETNX', KEYS[1], 'startedAt', ARGV[2])
      redis.call('HSET', KEYS[1], 'bundleId', ARGV[5], 'updatedAt', ARGV[2])
      redis.call('HINCRBY', KEYS[1], 'receipts', ARGV[6])
      redis.call('HINCRBY', KEYS[1], 'noPurchase', ARGV[7])
      redis.call('HINCRBY', KEYS[1], 'unreadable', failures)
      redis.call('HINCRBY', KEYS[1], 'queued', queued)
      redis.call('HINCRBY', KEYS[1], 'duplicates', #flags - queued)
      for index = 10, 9 + failures do
        if redis.call('XLEN', KEYS[3]) < tonumber(ARGV[8]) then redis.call('XADD', KEYS[3], '*', 'f', ARGV[index])
        else redis.call('HINCRBY', KEYS[1], 'notKept', 1) end
      end
      local answer = table.concat(flags)
      redis.call('HSET', KEYS[2], ARGV[1], answer)
      \(timeToLive)
      for index = 1, #KEYS do redis.call('EXPIRE', KEYS[index], live) end
      return answer
      """)

  // KEYS 1 counts  2 batches  3 failures  4 bucket of finished purchases  5 bucket of known purchases. ARGV 1 purchase  2 now, ms  3
  // seconds to live  4 seconds to live while purchases wait  5 transactions  6 subscriptions  7 the greatest number of failures  8 the
  // failure, or empty.
  // Returns 1, or 0 if it was counted before.
  private static let finish = RedisScript(
    name: "migration_finish",
    source: """
      if redis.call('SADD', KEYS[4], ARGV[1]) == 0 then return 0 end
      redis.call('HSET', KEYS[1], 'updatedAt', ARGV[2])
      redis.call('HINCRBY', KEYS[1], 'transactions', ARGV[5])
      redis.call('HINCRBY', KEYS[1], 'subscriptions', ARGV[6])
      if ARGV[8] == '' then
        redis.call('HINCRBY', KEYS[1], 'migrated', 1)
      else
        redis.call('HINCRBY', KEYS[1], 'refused', 1)
        if redis.call('XLEN', KEYS[3]) < tonumber(ARGV[7]) then redis.call('XADD', KEYS[3], '*', 'f', ARGV[8])
        else redis.call('HINCRBY', KEYS[1], 'notKept', 1) end
      end
      \(timeToLive)
      for index = 1, #KEYS do redis.call('EXPIRE', KEYS[index], live) end
      return 1
      """)

  // KEYS 1 counts. ARGV 1 now, ms. The keys keep the time to live of a waiting migration, because they must outlive its messages. Returns 1
  // if it is cancelled, 0 if nothing waits in it.
  private static let cancel = RedisScript(
    name: "migration_cancel",
    source: """
      if redis.call('HEXISTS', KEYS[1], 'cancelledAt') == 1 then return 1 end
      local counts = redis.call('HMGET', KEYS[1], 'queued', 'migrated', 'refused')
      if tonumber(counts[1] or 0) - tonumber(counts[2] or 0) - tonumber(counts[3] or 0) <= 0 then return 0 end
      redis.call('HSET', KEYS[1], 'cancelledAt', ARGV[1], 'updatedAt', ARGV[1])
      return 1
      """)

  // KEYS 1 counts  2 bucket of finished purchases. ARGV 1 purchase. Returns ``TaskState``.
  private static let readTaskState = RedisScript(
    name: "migration_standing",
    source: """
      if redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return 1 end
      return redis.call('HEXISTS', KEYS[1], 'cancelledAt') * 2
      """)

  /// The state of a task.
  enum TaskState: Int64 {
    case open = 0
    case finished = 1
    /// Its migration was cancelled, so Apple is not asked.
    case cancelled = 2
  }

  /// The result of adding a batch.
  enum Addition: Sendable, Hashable {
    /// For each task, true if it is new to the migration.
    case added([Bool])
    case ofAnotherApp
    case cancelled
  }

  /// Counts a batch once.
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
    // A migration that started long ago may have been active recently, so only expired ones are removed.
    try await started.forgetSome(before: now - keptSeconds * 1000, of: bundleId) { (id) async throws(RedisError) in
      try await redis.send(["EXISTS", .string(Self.key(id))]).integer == 0
    }
    let flags = Array((reply.string ?? "").utf8)
    guard flags.count == members.count else { throw .unexpectedReply("migration_add") }
    return .added(flags.map { $0 == UInt8(ascii: "1") })
  }

  /// Counts the end of a task once.
  func finish(
    _ task: MigrationTask, transactions: Int, subscriptions: Int, failure: MigrationFailureRecord?
  ) async throws(RedisError) {
    let id = task.migrationId
    _ = try await Self.finish.run(
      on: redis,
      keys: [
        Self.key(id), Self.key(id, "batches"), Self.key(id, "failures"), Self.bucket(id, "done", task.member),
        Self.bucket(id, "in", task.member),
      ],
      arguments: [
        .integer(task.member), .integer(WallClock.now()), .integer(keptSeconds), .integer(waitingSeconds), .integer(Int64(transactions)),
        .integer(Int64(subscriptions)), .integer(Int64(settings.failures)), failure.map { .bytes($0.json) } ?? "",
      ])
  }

  /// Cancels a migration with waiting receipts. Any other one is not changed.
  func cancel(_ id: String) async throws(RedisError) {
    _ = try await Self.cancel.run(on: redis, keys: [Self.key(id)], arguments: [.integer(WallClock.now())])
  }

  /// The state of a task, which may be finished or cancelled.
  func state(of task: MigrationTask) async throws(RedisError) -> TaskState {
    let reply = try await Self.readTaskState.run(
      on: redis, keys: [Self.key(task.migrationId), Self.bucket(task.migrationId, "done", task.member)],
      arguments: [.integer(task.member)])
    guard let state = reply.integer.flatMap(TaskState.init(rawValue:)) else { throw .unexpectedReply("migration_standing") }
    return state
  }

  func migration(_ id: String) async throws(RedisError) -> MigrationRecord? {
    let words = try await redis.send(["HGETALL", .string(Self.key(id))]).array ?? []
    var fields: [String: RedisReply] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) { fields[words[index].string ?? ""] = words[index + 1] }
    guard let bundleId = fields["bundleId"]?.string, let startedAt = fields["startedAt"]?.integer else { return nil }
    func count(_ name: String) -> Int64 { fields[name]?.integer ?? 0 }
    return MigrationRecord(
      id: id, bundleId: bundleId, startedAt: startedAt, updatedAt: fields["updatedAt"]?.integer ?? startedAt, receipts: count("receipts"),
      duplicates: count("duplicates"), noPurchase: count("noPurchase"), unreadable: count("unreadable"), queued: count("queued"),
      migrated: count("migrated"), refused: count("refused"), transactions: count("transactions"), subscriptions: count("subscriptions"),
      failuresNotKept: count("notKept"), cancelledAt: fields["cancelledAt"]?.integer)
  }

  /// A page of an app's migrations, or of all, newest first, and where the next one begins; nil when there is none.
  func list(
    bundleId: String?, limit: Int, after token: PageToken?
  ) async throws(RedisError) -> (migrations: [MigrationRecord], next: PageToken?) {
    let started = started
    if bundleId != nil {
      try await started.fileByApp { (id) async throws(RedisError) in
        try await redis.send(["HGET", .string(Self.key(id)), "bundleId"]).string
      }
    }
    let page = try await started.page(of: bundleId, limit: limit, after: token) { (ids) async throws(RedisError) -> [MigrationRecord?] in
      try await ConcurrentQueries.all(ids) { (id) async throws(RedisError) in
        // A name may belong to another app later.
        try await migration(id).flatMap { bundleId == nil || $0.bundleId == bundleId ? $0 : nil }
      }
    }
    return (page.entries, page.next)
  }

  /// A page of failures, oldest first, and the id after which the next page begins; nil if there is none.
  func failures(_ id: String, limit: Int, after place: String?) async throws(RedisError) -> (
    failures: [MigrationFailureRecord], next: String?
  ) {
    let reply = try await redis.send([
      "XRANGE", .string(Self.key(id, "failures")), place.map { .string("(" + $0) } ?? "-", "+", "COUNT", .integer(Int64(limit + 1)),
    ])
    var places: [String] = []
    var failures: [MigrationFailureRecord] = []
    for entry in (reply.array ?? []).prefix(limit) {
      guard let parts = entry.array, parts.count == 2, let place = parts[0].string, let bytes = parts[1].array?.last?.bytes,
        let failure = MigrationFailureRecord(json: bytes)
      else { continue }
      places.append(place)
      failures.append(failure)
    }
    return (failures, (reply.array?.count ?? 0) > limit ? places.last : nil)
  }
}
