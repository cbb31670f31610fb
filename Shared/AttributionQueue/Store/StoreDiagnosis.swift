import RedisClient

/// The result of one check of Redis.
public struct StoreFinding: Sendable, Hashable {
  public enum State: String, Sendable, Hashable { case ok, warning, failed }

  /// `redis`, `redis-settings`, `redis-memory`, `redis-persistence` or `clock`.
  public let check: String
  public let state: State
  /// The setting that was checked, prefixed with the node if there are several.
  public let subject: String?
  public let found: String
  /// What to do; nil if nothing is to be done.
  public let advice: String?
}

/// Checks a running Redis: connectivity, settings that could lose data, memory, persistence and clock.
public struct StoreDiagnosis: Sendable {
  /// The fraction of maxmemory above which the used memory is a warning: a full Redis refuses deliveries.
  static let maxMemoryFraction = 0.85
  /// A larger difference between the clocks of Redis and this process is a warning, because deadlines and gaps depend on them;
  /// milliseconds.
  static let maxClockDifference: Int64 = 1000

  private let redis: RedisClient
  private let durability: Durability
  private let now: @Sendable () -> Int64

  /// - Parameter now: milliseconds since 1970 by this process's clock.
  public init(redis: RedisClient, durability: Durability, now: @escaping @Sendable () -> Int64) {
    self.redis = redis
    self.durability = durability
    self.now = now
  }

  /// Runs all checks. If Redis does not answer, the result is one finding.
  public func findings() async -> [StoreFinding] {
    do throws(RedisError) {
      return try await connectivity() + settings() + memory() + persistence() + clock()
    } catch {
      return [
        StoreFinding(
          check: "redis", state: .failed, subject: nil, found: "does not answer: \(error)",
          advice: "Check that Redis is running, and check ATTRIBUTION_REDIS_URL and the password file. Its log says why it refuses.")
      ]
    }
  }

  private func connectivity() async throws(RedisError) -> [StoreFinding] {
    let started = ContinuousClock.now
    let replies = try await redis.sendToEachPrimary(["INFO", "server"])
    let milliseconds = Int64((ContinuousClock.now - started) / .milliseconds(1))
    return replies.map { node, reply in
      let info = Self.info(reply)
      let version = info["redis_version"] ?? "unknown"
      let major = version.split(separator: ".").first.flatMap { Int($0) } ?? 7
      return StoreFinding(
        check: "redis", state: major < 7 ? .failed : .ok, subject: node.map { "\($0)" },
        found: "version \(version), answers in \(milliseconds) ms, up for \(info["uptime_in_days"] ?? "0") days",
        advice: major < 7 ? "Redis 7.0 or later is required." : nil)
    }
  }

  private func settings() async throws(RedisError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for setting in RedisSafetyCheck.settings(durability) {
      let expected = setting.values.joined(separator: " or ")
      for (node, value) in try await RedisSafetyCheck.values(of: setting, redis) {
        let subject = RedisSafetyCheck.prefix(for: node) + setting.name
        guard let value else {
          findings.append(
            StoreFinding(
              check: "redis-settings", state: .warning, subject: subject, found: "cannot be read (CONFIG is forbidden)",
              advice: "Make sure that it is \(expected): \(setting.reason)."))
          continue
        }
        let isRight = setting.values.contains(value)
        findings.append(
          StoreFinding(
            check: "redis-settings", state: isRight ? .ok : .failed, subject: subject, found: value,
            advice: isRight
              ? nil : "Set it to \(expected): \(setting.reason). CONFIG SET changes the running Redis; redis.conf makes it permanent."))
      }
    }
    return findings
  }

  private func memory() async throws(RedisError) -> [StoreFinding] {
    try await redis.sendToEachPrimary(["INFO", "memory"]).map { node, reply in
      let info = Self.info(reply)
      let (used, limit) = (Int64(info["used_memory"] ?? "") ?? 0, Int64(info["maxmemory"] ?? "") ?? 0)
      let subject = node.map { "\($0)" }
      guard limit > 0 else {
        return StoreFinding(
          check: "redis-memory", state: .warning, subject: subject, found: "\(Self.mebibytes(used)) used, no maxmemory",
          advice:
            "Set maxmemory below the machine's memory. A full Redis then refuses writes; without maxmemory, the kernel kills it."
        )
      }
      let fraction = Double(used) / Double(limit)
      return StoreFinding(
        check: "redis-memory", state: fraction > Self.maxMemoryFraction ? .warning : .ok, subject: subject,
        found: "\(Self.mebibytes(used)) of \(Self.mebibytes(limit)) used (\(Int(fraction * 100)) %)",
        advice: fraction > Self.maxMemoryFraction
          ? "Find the queue or subscription with the largest backlog (queues, subscriptions), or give Redis more memory." : nil)
    }
  }

  private func persistence() async throws(RedisError) -> [StoreFinding] {
    try await redis.sendToEachPrimary(["INFO", "persistence"]).map { node, reply in
      let info = Self.info(reply)
      let faults = ["aof_last_write_status", "aof_last_bgrewrite_status"].filter { (info[$0] ?? "ok") != "ok" }
      let isLoading = info["loading"] == "1"
      let state: StoreFinding.State = faults.isEmpty ? (isLoading ? .warning : .ok) : .failed
      return StoreFinding(
        check: "redis-persistence", state: state, subject: node.map { "\($0)" },
        found: faults.isEmpty
          ? (isLoading ? "is loading its data" : "writes to the append-only file succeed")
          : faults.map { "\($0) is \(info[$0] ?? "")" }.joined(separator: ", "),
        advice: faults.isEmpty
          ? (isLoading ? "Wait until Redis has loaded its data." : nil) : "Check the disk of Redis (space, errors) and its log.")
    }
  }

  private func clock() async throws(RedisError) -> [StoreFinding] {
    let before = now()
    let replies = try await redis.sendToEachPrimary(["TIME"])
    let after = now()
    return replies.compactMap { node, reply in
      guard let parts = reply.array, parts.count == 2, let seconds = parts[0].integer, let micros = parts[1].integer else { return nil }
      // Redis read its clock between our two readings. A time between the two counts as equal.
      let time = seconds * 1000 + micros / 1000
      let difference = time < before ? time - before : time > after ? time - after : 0
      let isFar = abs(difference) > Self.maxClockDifference
      return StoreFinding(
        check: "clock", state: isFar ? .warning : .ok, subject: RedisSafetyCheck.prefix(for: node) + "redis",
        found: difference == 0 ? "matches this machine's clock" : "differs by \(difference) ms",
        advice: isFar
          ? "Synchronise the clocks of both machines (chrony or another NTP client): retries, outages and gaps depend on them." : nil)
    }
  }

  private static func mebibytes(_ bytes: Int64) -> String { "\((bytes + (1 << 19)) >> 20) MiB" }

  /// The fields of a reply to INFO.
  static func info(_ reply: RedisReply) -> [String: String] {
    var values: [String: String] = [:]
    for line in (reply.string ?? "").split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      values[String(line[..<colon])] = String(line[line.index(after: colon)...])
    }
    return values
  }
}
