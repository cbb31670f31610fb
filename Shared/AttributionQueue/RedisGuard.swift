import Logging
import RedisClient

/// Refuses a Redis that could lose what it was given.
enum RedisGuard {
  static let mark = "unsafe: "

  static func check(_ redis: RedisClient, development: Bool, logger: Logger) async throws(RedisError) {
    var faults: [String] = []
    let info = try await redis.send(["INFO", "server"]).string ?? ""
    let version = info.split(whereSeparator: \.isNewline).first { $0.hasPrefix("redis_version:") }?.dropFirst(14) ?? ""
    if let major = version.split(separator: ".").first.flatMap({ Int($0) }), major < 7 {
      faults.append("Redis \(version) is older than 7.0")
    }
    let expected = [
      ("maxmemory-policy", "noeviction", "a full Redis must refuse writes, not forget"),
      ("appendonly", "yes", "what was answered 200 must be on disk"),
      ("appendfsync", "always", "what was answered 200 must be on disk"),
    ]
    for (name, value, reason) in expected {
      // Managed servers may forbid CONFIG; what cannot be seen is said, not assumed wrong.
      let reply = try await redis.sendAllowingErrors(["CONFIG", "GET", .string(name)])
      guard let pair = reply.array, pair.count == 2, let found = pair[1].string else {
        logger.warning("Redis does not show its setting \(name); it must be \(value)")
        continue
      }
      if found != value { faults.append("\(name) is \(found) and must be \(value): \(reason)") }
    }
    guard !faults.isEmpty else { return }
    let text = "Redis is not safe to use: " + faults.joined(separator: "; ")
    guard development else { throw .refused(mark + text) }
    logger.warning("\(text) (accepted for development)")
  }
}
