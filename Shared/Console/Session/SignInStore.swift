import AttributionQueue
import Cryptography
import RedisClient

/// Stores sessions in Redis, so that all instances behind a load balancer know them and a session that has ended is unknown to all. They
/// are stored under digests of their names, so that access to Redis does not allow taking over a session.
struct SignInStore: Sendable {
  let redis: RedisClient
  let life: Duration

  /// Begins a session. Returns its name.
  func begin(mark: [UInt8], now: Int64) async throws(RedisError) -> String {
    let name = Hex.encode(RandomBytes.make(ConsoleSession.size))
    let session = ConsoleSession(mark: mark, endsAt: now + life.milliseconds)
    _ = try await redis.send(["SET", .string(Self.key(name)), .bytes(session.json), "PX", .integer(life.milliseconds)])
    return name
  }

  /// The session with that name; nil if there is none or it has ended.
  func session(_ name: String, now: Int64) async throws(RedisError) -> ConsoleSession? {
    guard Self.isName(name), let json = try await redis.send(["GET", .string(Self.key(name))]).bytes else { return nil }
    return ConsoleSession(json: json, now: now)
  }

  func end(_ name: String) async throws(RedisError) {
    guard Self.isName(name) else { return }
    _ = try await redis.send(["DEL", .string(Self.key(name))])
  }

  static func key(_ name: String) -> String {
    let digest = Hex.encode(SHA256Digest.hash(name))
    return Keys.own("verifier", "console:" + digest, shardOf: digest)
  }

  private static func isName(_ text: String) -> Bool {
    text.utf8.count == 2 * ConsoleSession.size && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}
