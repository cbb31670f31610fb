import Logging
import RedisClient

/// Refuses a Redis that could lose what it was given.
enum RedisGuard {
  static let mark = "unsafe: "

  /// Answers what behind each accept has to be asked for; nil below ``Durability/replicated``.
  static func check(_ redis: RedisClient, _ configuration: QueueConfiguration, logger: Logger) async throws(RedisError)
    -> RedisReplication?
  {
    var faults: [String] = []
    let info = try await redis.send(["INFO", "server"]).string ?? ""
    let version = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("redis_version:") }?.dropFirst(14) ?? ""
    if let major = version.split(separator: ".").first.flatMap({ Int($0) }), major < 7 {
      faults.append("Redis \(version) is older than 7.0")
    }
    let level = configuration.durability
    let expected = [
      ("maxmemory-policy", ["noeviction"], "a full Redis must refuse writes, not forget"),
      ("appendonly", ["yes"], "what was answered 200 must be on disk"),
      ("appendfsync", level.fsyncPolicies, "queues.durability is \(level.rawValue)"),
      ("no-appendfsync-on-rewrite", ["no"], "while the file is rewritten, too, what was answered 200 must be on disk"),
    ]
    for (name, values, reason) in expected {
      let wanted = values.joined(separator: " or ")
      // Managed servers may forbid CONFIG; what cannot be seen is said, not assumed wrong.
      let reply = try await redis.sendAllowingErrors(["CONFIG", "GET", .string(name)])
      guard let pair = reply.array, pair.count == 2, let found = pair[1].string else {
        logger.warning("Redis does not show its setting \(name); it must be \(wanted)")
        continue
      }
      if !values.contains(found) { faults.append("\(name) is \(found) and must be \(wanted): \(reason)") }
    }
    if let pair = try await redis.sendAllowingErrors(["CONFIG", "GET", "maxmemory"]).array, pair.count == 2, pair[1].string == "0" {
      logger.warning(
        "Redis has no maxmemory: where memory runs out the kernel ends it, in place of a refusal that senders come again after")
    }
    var replication: RedisReplication?
    if level == .replicated {
      // A replica that is away for a moment keeps no service from starting: no accept is answered 200 without it.
      let role = try await redis.sendAllowingErrors(["ROLE"]).array?.first?.string
      if let role, role != "master" { faults.append("it is a \(role); queues.durability replicated needs the primary") }
      // Valkey and Redis before 7.2 have no WAITAOF.
      let known = try await redis.sendAllowingErrors(["COMMAND", "INFO", "waitaof"]).array?.first?.array != nil
      replication = RedisReplication(
        replicas: configuration.replicas, depth: known ? .onDisk : .received, timeout: configuration.replicationTimeout)
    }
    guard !faults.isEmpty else { return replication }
    let text = "Redis is not safe to use: " + faults.joined(separator: "; ")
    guard configuration.development else { throw .refused(mark + text) }
    logger.warning("\(text) (accepted for development)")
    return replication
  }
}
