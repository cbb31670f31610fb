public import RedisClient

/// What is known of the intake itself: which instances of ingest were alive when, written by them, and when notifications of which app
/// were received, written by verifier once they are proved: nobody else's posts are counted. Read by recovery. Times are milliseconds
/// since 1970, Redis' own but for those of receipt.
public struct IntakeJournal: Sendable {
  /// From the last sign of life before to the first one after.
  public struct Pause: Sendable, Hashable {
    public let start: Int64
    public let end: Int64

    public init(start: Int64, end: Int64) {
      self.start = start
      self.end = end
    }
  }

  /// Notifications of an app that were received within a moment.
  public struct Group: Sendable, Hashable {
    public var count: Int64
    /// When the first and the last of them were received.
    public var first: Int64
    public var last: Int64

    public init(count: Int64, first: Int64, last: Int64) {
      self.count = count
      self.first = first
      self.last = last
    }
  }

  /// What is known of an app's notifications that were proved.
  public struct Arrivals: Sendable, Hashable {
    /// Redis' time of this answer.
    public let now: Int64
    /// When the last one was received; nil when none is remembered.
    public let last: Int64?
    /// Bucket (time divided by ``IntakeJournal/bucket``) → how many came.
    public let counts: [Int64: Int64]
    /// Silences that ended.
    public let silences: [Pause]
  }

  /// Length of one count, milliseconds: a 288th of a day.
  public static let bucket: Int64 = 300_000
  /// How long counts, outages and silences are remembered, milliseconds.
  public static let remembered: Int64 = 9 * 86_400_000

  private static let instances = Keys.own("ingest", "instances", shardOf: "ingest")
  private static let outages = Keys.own("ingest", "outages", shardOf: "ingest")

  private let redis: RedisClient

  public init(redis: RedisClient) { self.redis = redis }

  /// Says that an instance is alive. Answers the outage that ended with it: nobody had said so for longer than `outageAfter`.
  public func beat(_ instance: String, outageAfter: Duration) async throws(RedisError) -> Pause? {
    let reply = try await Scripts.heartbeat.run(
      redis, [Self.instances, Self.outages],
      [.string(instance), .integer(outageAfter.milliseconds), .integer(Self.remembered)])
    guard let values = reply.array, values.count == 2, let now = values[0].integer, let start = values[1].integer, start > 0
    else { return nil }
    return Pause(start: start, end: now)
  }

  /// The outages of all instances together that are remembered, oldest first, and the last sign of life; `now` is Redis' time.
  public func outages() async throws(RedisError) -> (now: Int64, lastBeat: Int64?, outages: [Pause]) {
    let now = try await time()
    let last = try await redis.send(["ZRANGE", .string(Self.instances), -1, -1, "WITHSCORES"])
    return (now, last.array?.last?.integer, try await pauses(Self.outages))
  }

  /// Notes when notifications of an app that were proved had been received, in groups, oldest first. A silence longer than `silenceAfter`
  /// between them is recorded.
  public func note(environment: String, bundleId: String, _ groups: [Group], silenceAfter: Duration) async throws(RedisError) {
    let keys = Self.keys(environment, bundleId)
    _ = try await Scripts.arrivals.run(
      redis, [keys.counts, keys.last, keys.silences],
      [.integer(Self.bucket), .integer(silenceAfter.milliseconds), .integer(Self.remembered)]
        + groups.flatMap { [.integer($0.count), .integer($0.first), .integer($0.last)] })
  }

  /// Up to when everything that came into the queue `intake` was judged at least once, by Redis' clock: what has come since may still
  /// wait there. Asks every shard.
  public func workedOff() async throws(RedisError) -> Int64 {
    var moment = try await time()
    let oldest = await withTaskGroup(of: Result<Int64?, RedisError>.self) { group in
      for shard in Shard.all {
        group.addTask {
          do throws(RedisError) {
            let first = try await redis.send(["XRANGE", .string(Keys.ready(.intake, shard)), "-", "+", "COUNT", 1])
            let id = first.array?.first?.array?.first?.string
            return .success(id.flatMap { $0.split(separator: "-").first }.flatMap { Int64($0) })
          } catch { return .failure(error) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for found in oldest {
      if let waiting = try found.get() { moment = min(moment, waiting) }
    }
    return moment
  }

  /// What is known of an app's notifications.
  public func arrivals(environment: String, bundleId: String) async throws(RedisError) -> Arrivals {
    let keys = Self.keys(environment, bundleId)
    let now = try await time()
    let last = try await redis.send(["GET", .string(keys.last)]).integer
    let fields = try await redis.send(["HGETALL", .string(keys.counts)]).array ?? []
    var counts: [Int64: Int64] = [:]
    for place in stride(from: 0, to: fields.count - 1, by: 2) {
      // What has no letter was counted by a build of before, whoever had sent it.
      guard let name = fields[place].string, name.hasPrefix("p"), let bucket = Int64(name.dropFirst()) else { continue }
      if let count = fields[place + 1].integer { counts[bucket] = count }
    }
    return Arrivals(now: now, last: last, counts: counts, silences: try await pauses(keys.silences))
  }

  private static func keys(_ environment: String, _ bundleId: String) -> (counts: String, last: String, silences: String) {
    func key(_ name: String) -> String { Keys.own("ingest", "\(name):\(environment):\(bundleId)", shardOf: bundleId) }
    return (key("arrivals"), key("last-arrival"), key("silences"))
  }

  private func time() async throws(RedisError) -> Int64 {
    let reply = try await redis.send(["TIME"])
    guard let parts = reply.array, parts.count == 2, let seconds = parts[0].integer, let micros = parts[1].integer else {
      throw .unexpectedReply("TIME")
    }
    return seconds * 1000 + micros / 1000
  }

  private func pauses(_ key: String) async throws(RedisError) -> [Pause] {
    (try await redis.send(["ZRANGE", .string(key), 0, -1]).array ?? []).compactMap { member in
      guard let parts = member.string?.split(separator: "-"), parts.count == 2, let start = Int64(parts[0]), let end = Int64(parts[1]),
        start < end
      else { return nil }
      return Pause(start: start, end: end)
    }
  }
}
