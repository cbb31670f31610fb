import AttributionQueue
import RedisClient
import ServiceRuntime

/// Stores recoveries in Redis: the jobs, the ids of each app's running jobs, and indexes by start time. The keys of an app are in one shard
/// together with its leader's lease, so that one script can compare the lease and write.
struct RecoveryStore: Sendable {
  let redis: RedisClient
  /// How long a job is stored after it was last written, seconds.
  static let keptSeconds: Int64 = 30 * 86_400

  private var started: StartTimeIndex { StartTimeIndex(redis: redis, name: "index", shardOf: "recovery") }

  /// The key with the bundle id of a job's app. Callers know only the job's id, and the job is in its app's shard.
  private static func appKey(_ id: String) -> String { Keys.own("recovery", "app:\(id)", shardOf: id) }
  private static func runningKey(_ bundleId: String) -> String { Keys.own("recovery", "running:\(bundleId)", shardOf: bundleId) }
  private static func jobKey(_ id: String, _ bundleId: String) -> String { Keys.own("recovery", "job:\(id)", shardOf: bundleId) }
  private static func cancelKey(_ id: String, _ bundleId: String) -> String { Keys.own("recovery", "cancel:\(id)", shardOf: bundleId) }

  private static let save = RedisScript(name: "recovery_save", source: PackageResources.recovery_save_lua)
  private static let create = RedisScript(name: "recovery_create", source: PackageResources.recovery_create_lua)

  /// Stores a new job, which the app's leader then starts. An existing job with the same id is not changed. Safe to repeat.
  func create(_ job: RecoveryJob) async throws(RedisError) {
    try await redis.send(["SET", .string(Self.appKey(job.id)), .string(job.bundleId), "EX", .integer(Self.keptSeconds)])
    try await started.add(job.id, of: job.bundleId, startedAt: job.startedAt)
    _ = try await Self.create.run(
      on: redis, keys: [Self.jobKey(job.id, job.bundleId), Self.runningKey(job.bundleId)],
      arguments: [.bytes(job.json), .integer(Self.keptSeconds), .string(job.id)])
  }

  func job(_ id: String) async throws(RedisError) -> RecoveryJob? {
    guard let bundleId = try await redis.send(["GET", .string(Self.appKey(id))]).string else { return nil }
    return try await job(id, of: bundleId)
  }

  func job(_ id: String, of bundleId: String) async throws(RedisError) -> RecoveryJob? {
    try await redis.send(["GET", .string(Self.jobKey(id, bundleId))]).bytes.flatMap(RecoveryJob.init(json:))
  }

  /// A page of the jobs of an app, or of all apps if `bundleId` is nil, newest first. `next` is the start of the next page; nil on the last
  /// one.
  func list(bundleId: String?, limit: Int, after token: PageToken?) async throws(RedisError) -> (jobs: [RecoveryJob], next: PageToken?) {
    let started = started
    try await started.forget(before: WallClock.now() - Self.keptSeconds * 1000, of: bundleId)
    if bundleId != nil {
      try await started.completeAppIndexes { (id) async throws(RedisError) in
        try await redis.send(["GET", .string(Self.appKey(id))]).string
      }
    }
    let page = try await started.page(of: bundleId, limit: limit, after: token) { (ids) async throws(RedisError) -> [RecoveryJob?] in
      guard let bundleId else { return try await ConcurrentQueries.all(ids) { (id) async throws(RedisError) in try await job(id) } }
      let reply = try await redis.send(["MGET"] + ids.map { .string(Self.jobKey($0, bundleId)) })
      return (reply.array ?? []).map { $0.bytes.flatMap(RecoveryJob.init(json:)) }
    }
    return (page.entries, page.next)
  }

  /// The ids of an app's running jobs.
  func runningIDs(_ bundleId: String) async throws(RedisError) -> [String] {
    (try await redis.send(["SMEMBERS", .string(Self.runningKey(bundleId))]).array ?? []).compactMap(\.string)
  }

  /// The jobs with these ids that exist, and whether their cancellation was requested.
  func jobs(_ ids: [String], of bundleId: String) async throws(RedisError) -> [String: (job: RecoveryJob, isCancelRequested: Bool)] {
    guard !ids.isEmpty else { return [:] }
    let stored = try await redis.send(["MGET"] + ids.map { .string(Self.jobKey($0, bundleId)) }).array ?? []
    let cancels = try await redis.send(["MGET"] + ids.map { .string(Self.cancelKey($0, bundleId)) }).array ?? []
    guard stored.count == ids.count, cancels.count == ids.count else { throw .unexpectedReply("MGET") }
    var jobs: [String: (job: RecoveryJob, isCancelRequested: Bool)] = [:]
    for (id, (job, cancel)) in zip(ids, zip(stored, cancels)) {
      guard let job = job.bytes.flatMap(RecoveryJob.init(json:)) else { continue }
      jobs[id] = (job, cancel.bytes != nil)
    }
    return jobs
  }

  /// Removes an id from those of an app's running jobs.
  func remove(running id: String, of bundleId: String) async throws(RedisError) {
    try await redis.send(["SREM", .string(Self.runningKey(bundleId)), .string(id)])
  }

  /// Stores the job's progress. Returns false, and stores nothing, if the term is over.
  func save(_ job: RecoveryJob, _ term: AppLeadership.Term) async throws(RedisError) -> Bool {
    try await Self.save.run(
      on: redis,
      keys: [AppLeadership.leaseKey(job.bundleId), Self.jobKey(job.id, job.bundleId), Self.runningKey(job.bundleId)],
      arguments: [
        .integer(term.token), .bytes(job.json), .integer(Self.keptSeconds), .string(job.id), job.state == .running ? 1 : 0,
      ]
    ).integer == 1
  }

  // MARK: Outages

  private static let mark = RedisScript(name: "recovery_mark", source: PackageResources.outage_recovered_lua)

  private static func outageKey(_ name: String, _ bundleId: String) -> String {
    Keys.own("recovery", "outage:\(name):\(bundleId)", shardOf: bundleId)
  }

  /// The time up to which an ongoing outage was recovered, milliseconds since 1970; nil if nothing of it was recovered yet.
  func recoveredUntil(_ outage: String, of bundleId: String) async throws(RedisError) -> Int64? {
    try await redis.send(["GET", .string(Self.outageKey(outage, bundleId))]).integer
  }

  /// Stores the time up to which an ongoing outage was recovered. Returns false, and stores nothing, if the term is over.
  func setRecovered(_ outage: String, until moment: Int64, _ term: AppLeadership.Term) async throws(RedisError) -> Bool {
    try await Self.mark.run(
      on: redis, keys: [AppLeadership.leaseKey(term.bundleId), Self.outageKey(outage, term.bundleId)],
      arguments: [.integer(term.token), .integer(moment), .integer(Self.keptSeconds)]
    ).integer == 1
  }

  // MARK: Cancelling

  /// Requests the cancellation of a job. The request has its own key, because only the leader writes the job.
  func requestCancel(_ job: RecoveryJob) async throws(RedisError) {
    try await redis.send(["SET", .string(Self.cancelKey(job.id, job.bundleId)), "1", "EX", .integer(Self.keptSeconds)])
  }

  func isCancelRequested(_ job: RecoveryJob) async throws(RedisError) -> Bool {
    try await redis.send(["EXISTS", .string(Self.cancelKey(job.id, job.bundleId))]).integer == 1
  }
}
