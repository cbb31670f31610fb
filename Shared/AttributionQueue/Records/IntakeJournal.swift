public import RedisClient

/// The record of when ingest was alive and when notifications arrived. Each instance of ingest writes heartbeats. Verifier writes the
/// arrival of notifications once they are verified, so that forged posts are not counted. notification-recovery reads both to find outages
/// and silences.
///
/// All times are milliseconds since 1970. Times of receipt are from the clock of the instance that received the notification, all others
/// from Redis' clock.
public struct IntakeJournal: Sendable {
  /// An outage or a silence: from the last heartbeat or arrival before it to the first one after it.
  public struct Pause: Sendable, Hashable {
    public let start: Int64
    public let end: Int64

    public init(start: Int64, end: Int64) {
      self.start = start
      self.end = end
    }
  }

  /// Notifications of an app that were received close to each other.
  public struct Group: Sendable, Hashable {
    public var count: Int64
    /// When the first of them was received.
    public var first: Int64
    /// When the last of them was received.
    public var last: Int64

    public init(count: Int64, first: Int64, last: Int64) {
      self.count = count
      self.first = first
      self.last = last
    }
  }

  /// The arrivals of an app's verified notifications.
  public struct Arrivals: Sendable, Hashable {
    /// Redis' time before the arrivals were read.
    public let now: Int64
    /// When the last notification was received; nil if none is stored.
    public let last: Int64?
    /// The number of arrivals by bucket. A bucket's number is its start time divided by ``IntakeJournal/bucketLength``.
    public let counts: [Int64: Int64]
    /// Silences that have ended.
    public let silences: [Pause]
  }

  /// The length of a bucket, milliseconds: five minutes, so that a day has a whole number of buckets.
  public static let bucketLength: Int64 = 300_000
  /// How long counts, outages and silences are stored, milliseconds.
  public static let retention: Int64 = 9 * 86_400_000

  private static let instances = Keys.own("ingest", "instances", shardOf: "ingest")
  private static let outages = Keys.own("ingest", "outages", shardOf: "ingest")

  private let redis: RedisClient

  public init(redis: RedisClient) { self.redis = redis }

  /// Writes a heartbeat (heartbeat.lua). If no instance has written one for longer than `outageAfter` before, this records an outage, which
  /// is returned.
  public func beat(_ instance: String, outageAfter: Duration) async throws(RedisError) -> Pause? {
    let reply = try await Scripts.heartbeat.run(
      redis, [Self.instances, Self.outages],
      [.string(instance), .integer(outageAfter.milliseconds), .integer(Self.retention)])
    guard let values = reply.array, values.count == 2, let now = values[0].integer, let start = values[1].integer, start > 0
    else { return nil }
    return Pause(start: start, end: now)
  }

  /// The stored outages, in which no instance was alive, oldest first, and the time of the last heartbeat. `now` is Redis' time.
  public func outages() async throws(RedisError) -> (now: Int64, lastBeat: Int64?, outages: [Pause]) {
    let now = try await time()
    let last = try await redis.send(["ZRANGE", .string(Self.instances), -1, -1, "WITHSCORES"])
    return (now, last.array?.last?.integer, try await pauses(Self.outages))
  }

  /// Records the receipt of an app's verified notifications, in groups, oldest first (arrivals.lua). Silences before or between them that
  /// are longer than `silenceAfter` are recorded too.
  public func note(environment: String, bundleId: String, _ groups: [Group], silenceAfter: Duration) async throws(RedisError) {
    let keys = Self.keys(environment, bundleId)
    _ = try await Scripts.arrivals.run(
      redis, [keys.counts, keys.last, keys.silences],
      [.integer(Self.bucketLength), .integer(silenceAfter.milliseconds), .integer(Self.retention)]
        + groups.flatMap { [.integer($0.count), .integer($0.first), .integer($0.last)] })
  }

  /// The time up to which every message of the queue `intake` was handled at least once, by Redis' clock: when the oldest message in a
  /// ready stream was appended, or now if all are empty. Queries every shard.
  public func handledUpTo() async throws(RedisError) -> Int64 {
    var earliest = try await time()
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
      if let waiting = try found.get() { earliest = min(earliest, waiting) }
    }
    return earliest
  }

  /// The arrivals of an app's notifications, as ``note(environment:bundleId:_:silenceAfter:)`` recorded them.
  public func arrivals(environment: String, bundleId: String) async throws(RedisError) -> Arrivals {
    let keys = Self.keys(environment, bundleId)
    let now = try await time()
    let last = try await redis.send(["GET", .string(keys.last)]).integer
    let fields = try await redis.send(["HGETALL", .string(keys.counts)]).array ?? []
    var counts: [Int64: Int64] = [:]
    for index in stride(from: 0, to: fields.count - 1, by: 2) {
      // Older builds wrote fields without the letter, and counted posts that were not verified.
      guard let name = fields[index].string, name.hasPrefix("p"), let bucket = Int64(name.dropFirst()) else { continue }
      if let count = fields[index + 1].integer { counts[bucket] = count }
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
