import AttributionQueue
import Cryptography
import RedisClient

/// Stores sessions in Redis, so that every instance behind a load balancer accepts a session, and none accepts it after it has ended.
///
/// A session is stored under the digest of its name, so that someone who can read Redis cannot take over a session.
struct SignInStore: Sendable {
  let redis: RedisClient
  /// The time after which a user must sign in again.
  let lifetime: Duration

  /// Begins a session. Returns its name, which is the value of the user's cookie.
  func begin(fingerprint: [UInt8], now: Int64) async throws(RedisError) -> String {
    let name = Hex.encode(RandomBytes.make(ConsoleSession.size))
    let session = ConsoleSession(fingerprint: fingerprint, endsAt: now + lifetime.milliseconds)
    _ = try await redis.send(["SET", .string(Self.key(name)), .bytes(session.json), "PX", .integer(lifetime.milliseconds)])
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

  /// True if the text has the format of a session's name: 64 hexadecimal digits. Other values of the cookie are not looked up.
  private static func isName(_ text: String) -> Bool {
    text.utf8.count == 2 * ConsoleSession.size && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}
