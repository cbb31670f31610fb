import AppleAttribution
import AttributionProtocol
import AttributionQueue
import RedisClient

/// Web ads that wait for the device's request, by nonce: in Redis, for a day, with the payload that each site got.
struct WebImpressionStore: Sendable {
  /// How long an ad waits, seconds: 24 hours.
  static let lifetimeSeconds: Int64 = 86_400
  /// The most sites one ad is signed for: a nonce that everybody can see must not fill the store.
  static let mostPayloads: Int64 = 100

  /// Keeps an ad unless another one stands under its nonce.
  /// KEYS 1 the ad. ARGV 1 its stored form  2 seconds to live. Answers 1 when it is kept or was already, 0 for another ad.
  private static let keep = RedisScript(
    name: "web-keep",
    source: """
      local kept = redis.call('HGET', KEYS[1], 'ad')
      if kept then return kept == ARGV[1] and 1 or 0 end
      redis.call('HSET', KEYS[1], 'ad', ARGV[1])
      redis.call('EXPIRE', KEYS[1], ARGV[2])
      return 1
      """)

  /// Keeps the payload signed for a site, unless one is kept already.
  /// KEYS 1 the ad. ARGV 1 the site's field  2 the payload  3 the most fields. Answers the payload that stands; false when the
  /// ad is gone or was signed for too many sites.
  private static let settle = RedisScript(
    name: "web-settle",
    source: """
      local kept = redis.call('HGET', KEYS[1], ARGV[1])
      if kept then return kept end
      if redis.call('HEXISTS', KEYS[1], 'ad') == 0 then return false end
      if redis.call('HLEN', KEYS[1]) > tonumber(ARGV[3]) then return false end
      redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
      return ARGV[2]
      """)

  let redis: RedisClient

  /// Keeps an ad. Throws `already_exists` when another one has its nonce.
  func keep(_ impression: DeferredWebImpression) async throws(RPCError) {
    let reply = try await run(Self.keep, impression.nonce, [.bytes(impression.stored), .integer(Self.lifetimeSeconds)])
    guard reply.integer == 1 else {
      throw RPCError(.alreadyExists, "another ad is kept under this nonce")
    }
  }

  /// The ad of a nonce, and the payload that a site got before; nil when there is none.
  func find(_ nonce: WebAdNonce, sourceDomain: String) async throws(RPCError) -> (DeferredWebImpression, payload: [UInt8]?)? {
    let reply: RedisReply
    do throws(RedisError) {
      reply = try await redis.send(["HMGET", .string(Self.key(nonce)), "ad", .string(Self.field(sourceDomain))])
    } catch { throw Self.away }
    guard let values = reply.array, values.count == 2, let ad = values[0].bytes, let impression = DeferredWebImpression(stored: ad)
    else { return nil }
    return (impression, values[1].bytes)
  }

  /// Keeps the payload signed for a site; gives the one that stands, which may be an earlier one. Nil when the ad is gone.
  func settle(_ payload: [UInt8], nonce: WebAdNonce, sourceDomain: String) async throws(RPCError) -> [UInt8]? {
    try await run(
      Self.settle, nonce, [.string(Self.field(sourceDomain)), .bytes(payload), .integer(Self.mostPayloads)]
    ).bytes
  }

  private func run(_ script: RedisScript, _ nonce: WebAdNonce, _ arguments: [RedisArgument]) async throws(RPCError) -> RedisReply {
    do throws(RedisError) {
      return try await script.run(on: redis, keys: [Self.key(nonce)], arguments: arguments)
    } catch { throw Self.away }
  }

  private static let away = RPCError.unavailable("the store of web ads is unavailable", reason: "STORE_UNAVAILABLE")

  private static func key(_ nonce: WebAdNonce) -> String { Keys.own("signer", "web:\(nonce.uuid)", shardOf: nonce.uuid) }

  private static func field(_ sourceDomain: String) -> String { "payload:" + sourceDomain }

}
