import Logging
import RedisClient

/// Refuses a Redis that is too old, or whose settings could lose data. Checks every primary. In development it only logs what is wrong.
enum RedisSafetyCheck {
  /// Precedes the text of a refusal, so that ``DeliveryQueue/open(redis:configuration:tracer:logger:observeAccept:)`` can tell it from an
  /// error reply of Redis.
  static let refusalPrefix = "unsafe: "

  /// A setting of Redis, and the values with which it loses no data.
  struct Setting {
    let name: String
    let values: [String]
    let reason: String
    /// Where INFO shows the setting; nil if it does not.
    var information: Information?
  }

  /// A field of INFO, which servers show even if they forbid CONFIG.
  struct Information {
    let section: String
    let field: String
    /// The setting's value for each value of the field. A value that is not listed is equal in both.
    var values: [String: String] = [:]
  }

  /// Returns how replicas must confirm each accept; nil below ``Durability/replicated``. Throws ``RedisError/refused(_:)`` with
  /// ``refusalPrefix`` if Redis is not safe to use.
  static func check(_ redis: RedisClient, _ configuration: QueueConfiguration, logger: Logger) async throws(RedisError)
    -> RedisReplication?
  {
    var faults: [String] = []
    for (node, reply) in try await redis.sendToEachPrimary(["INFO", "server"]) {
      let version = (reply.string ?? "").split(whereSeparator: \.isNewline).first { $0.hasPrefix("redis_version:") }?.dropFirst(14) ?? ""
      if let major = version.split(separator: ".").first.flatMap({ Int($0) }), major < 7 {
        faults.append("\(prefix(for: node))Redis \(version) is older than 7.0")
      }
    }
    for setting in settings(configuration.durability) {
      let expected = setting.values.joined(separator: " or ")
      for (node, found) in try await values(of: setting, redis) {
        // Managed servers may forbid CONFIG. A setting that INFO does not show either is reported as a warning, not an error.
        guard let found else {
          logger.warning("\(prefix(for: node))Redis does not show its setting \(setting.name); it must be \(expected)")
          continue
        }
        if !setting.values.contains(found) {
          faults.append("\(prefix(for: node))\(setting.name) is \(found) and must be \(expected): \(setting.reason)")
        }
      }
    }
    for (node, found) in try await values(of: "maxmemory", redis) where found == "0" {
      logger.warning(
        """
        \(prefix(for: node))Redis has no maxmemory: when memory runs out, the kernel ends Redis. With maxmemory, Redis refuses writes \
        and senders repeat them
        """)
    }
    var replication: RedisReplication?
    if configuration.durability == .replicated {
      replication = try await Self.replication(redis, configuration, &faults, logger)
    } else if redis.url.deployment != .single {
      logger.warning(
        "a replica that becomes primary may lack acknowledged writes; queues.durability: replicated waits for replicas")
    }
    guard !faults.isEmpty else { return replication }
    let text = "Redis is not safe to use: " + faults.joined(separator: "; ")
    guard configuration.development else { throw .refused(refusalPrefix + text) }
    logger.warning("\(text) (accepted for development)")
    return replication
  }

  static func settings(_ level: Durability) -> [Setting] {
    [
      Setting(
        name: "maxmemory-policy", values: ["noeviction"], reason: "a full Redis must refuse writes instead of evicting data",
        information: Information(section: "memory", field: "maxmemory_policy")),
      Setting(
        name: "appendonly", values: ["yes"], reason: "deliveries that were answered 200 must be on disk",
        information: Information(section: "persistence", field: "aof_enabled", values: ["1": "yes", "0": "no"])),
      Setting(name: "appendfsync", values: level.fsyncPolicies, reason: "queues.durability is \(level.rawValue)"),
      Setting(
        name: "no-appendfsync-on-rewrite", values: ["no"],
        reason: "deliveries that were answered 200 must be on disk even while the append-only file is rewritten"),
    ]
  }

  /// How replicas must confirm writes. Appends what contradicts this to `faults`.
  private static func replication(
    _ redis: RedisClient, _ configuration: QueueConfiguration, _ faults: inout [String], _ logger: Logger
  ) async throws(RedisError) -> RedisReplication {
    // The number of connected replicas is not checked: a missing replica must not keep a service from starting, and no accept succeeds
    // without it.
    for (node, reply) in try await redis.sendToEachPrimary(["ROLE"]) {
      if let role = reply.array?.first?.string, role != "master" {
        faults.append("\(prefix(for: node))the server is a \(role); queues.durability: replicated needs the primary")
      }
    }
    // A primary that is partitioned from its replicas would continue to accept writes and lose them on failover, unless it requires
    // replicas itself.
    for (node, found) in try await values(of: "min-replicas-to-write", redis) {
      guard let found, let count = Int(found), count < configuration.replicas else { continue }
      let text = "\(prefix(for: node))min-replicas-to-write is \(count) and must be at least queues.replicas, \(configuration.replicas)"
      if redis.url.deployment == .single { logger.warning("\(text) where a replica may take over") } else { faults.append(text) }
    }
    // Valkey and Redis before 7.2 have no WAITAOF.
    let isKnown = try await redis.sendToEachPrimary(["COMMAND", "INFO", "waitaof"]).allSatisfy { $0.reply.array?.first?.array != nil }
    return RedisReplication(
      replicas: configuration.replicas, depth: isKnown ? .onDisk : .received, timeout: configuration.replicationTimeout)
  }

  /// The value of a setting on each primary, from INFO if CONFIG does not show it; nil if neither does.
  static func values(of setting: Setting, _ redis: RedisClient) async throws(RedisError) -> [(node: NodeAddress?, value: String?)] {
    let found = try await values(of: setting.name, redis)
    guard let information = setting.information, found.contains(where: { $0.value == nil }) else { return found }
    let replies = try await redis.sendToEachPrimary(["INFO", .string(information.section)])
    return found.map { node, value in
      let shown = replies.first { $0.node == node }.flatMap { StoreDiagnosis.info($0.reply)[information.field] }
      return (node, value ?? shown.map { information.values[$0] ?? $0 })
    }
  }

  /// The value of a setting on each primary; nil if CONFIG does not show it.
  static func values(of name: String, _ redis: RedisClient) async throws(RedisError) -> [(node: NodeAddress?, value: String?)] {
    try await redis.sendToEachPrimary(["CONFIG", "GET", .string(name)]).map { node, reply in
      guard let pair = reply.array, pair.count == 2 else { return (node, nil) }
      return (node, pair[1].string)
    }
  }

  /// The prefix of a text that names the node; empty if there is only one.
  static func prefix(for node: NodeAddress?) -> String { node.map { "\($0): " } ?? "" }
}
