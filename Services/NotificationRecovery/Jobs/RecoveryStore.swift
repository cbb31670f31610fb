import AttributionQueue
import Cryptography
import RedisClient
import ServiceRuntime

/// The recoveries in Redis: each job with its lease, a list of all, a list of those that run.
struct RecoveryStore: Sendable {
  let redis: RedisClient
  /// Longer than an instance is away when it restarts, shorter than anybody waits for another to take over.
  static let leaseMilliseconds: Int64 = 15_000
  /// How long a job can be read.
  static let keptSeconds: Int64 = 30 * 86_400

  private static let index = Keys.own("recovery", "index", shardOf: "recovery")
  private static let running = Keys.own("recovery", "running", shardOf: "recovery")

  private func key(_ kind: String, _ id: String) -> String { Keys.own("recovery", "\(kind):\(id)", shardOf: id) }

  // KEYS 1 lease  2 job. ARGV 1 owner  2 job  3 lease, ms  4 job's time to live, s. Answers 1, or 0 when another holds the lease.
  private static let save = script(
    "recovery_save",
    """
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[4])
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    return 1
    """)
  // KEYS 1 lease. ARGV 1 owner  2 lease, ms; 0 gives it back. Answers 1, or 0 when another holds it.
  private static let renew = script(
    "recovery_renew",
    """
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
    if tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) else redis.call('DEL', KEYS[1]) end
    return 1
    """)

  private static func script(_ name: String, _ source: String) -> RedisScript {
    RedisScript(name: name, source: source, sha1: Hex.encode(SHA1Digest.hash(Array(source.utf8))))
  }

  /// Stores a new job; one of the same id that exists already stays. Safe to repeat at any point.
  func create(_ job: RecoveryJob) async throws(RedisError) {
    try await redis.send(["SET", .string(key("job", job.id)), .bytes(job.json), "NX", "EX", .integer(Self.keptSeconds)])
    try await redis.send(["ZADD", .string(Self.index), "NX", .integer(job.startedAt), .string(job.id)])
    try await redis.send(["SADD", .string(Self.running), .string(job.id)])
  }

  func job(_ id: String) async throws(RedisError) -> RecoveryJob? {
    try await redis.send(["GET", .string(key("job", id))]).bytes.flatMap(RecoveryJob.init(json:))
  }

  /// Newest first.
  func list(bundleId: String?, limit: Int) async throws(RedisError) -> [RecoveryJob] {
    let oldest = WallClock.now() - Self.keptSeconds * 1000
    try await redis.send(["ZREMRANGEBYSCORE", .string(Self.index), "-inf", .integer(oldest)])
    var jobs: [RecoveryJob] = []
    var offset: Int64 = 0
    let step: Int64 = 200
    while jobs.count < limit {
      let reply = try await redis.send(["ZREVRANGE", .string(Self.index), .integer(offset), .integer(offset + step - 1)])
      let ids = (reply.array ?? []).compactMap(\.string)
      for id in ids where jobs.count < limit {
        if let job = try await job(id), bundleId == nil || job.bundleId == bundleId { jobs.append(job) }
      }
      if ids.count < Int(step) { break }
      offset += step
    }
    return jobs
  }

  /// Ids of jobs that somebody should be working on.
  func runningIDs() async throws(RedisError) -> [String] {
    (try await redis.send(["SMEMBERS", .string(Self.running)]).array ?? []).compactMap(\.string)
  }

  func remove(running id: String) async throws(RedisError) { try await redis.send(["SREM", .string(Self.running), .string(id)]) }

  // MARK: Lease

  /// True when the job is this owner's now.
  func claim(_ id: String, owner: String) async throws(RedisError) -> Bool {
    let reply = try await redis.send(
      ["SET", .string(key("lease", id)), .string(owner), "NX", "PX", .integer(Self.leaseMilliseconds)])
    return !reply.isNull
  }

  /// Starts the lease's time anew; false when another has it.
  func renew(_ id: String, owner: String) async throws(RedisError) -> Bool {
    try await Self.renew.run(
      on: redis, keys: [key("lease", id)], arguments: [.string(owner), .integer(Self.leaseMilliseconds)]
    ).integer == 1
  }

  func release(_ id: String, owner: String) async throws(RedisError) {
    _ = try await Self.renew.run(on: redis, keys: [key("lease", id)], arguments: [.string(owner), 0])
  }

  /// Stores the job's progress; false when the lease was lost, and nothing is stored.
  func save(_ job: RecoveryJob, owner: String) async throws(RedisError) -> Bool {
    let saved =
      try await Self.save.run(
        on: redis, keys: [key("lease", job.id), key("job", job.id)],
        arguments: [.string(owner), .bytes(job.json), .integer(Self.leaseMilliseconds), .integer(Self.keptSeconds)]
      ).integer == 1
    if saved, job.state != .running { try await remove(running: job.id) }
    return saved
  }

  // MARK: Cancelling

  /// A key of its own: whoever works on the job writes the job itself.
  func requestCancel(_ id: String) async throws(RedisError) {
    try await redis.send(["SET", .string(key("cancel", id)), "1", "EX", .integer(Self.keptSeconds)])
  }

  func isCancelRequested(_ id: String) async throws(RedisError) -> Bool {
    try await redis.send(["EXISTS", .string(key("cancel", id))]).integer == 1
  }
}
