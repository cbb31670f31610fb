import AppleAttribution
import AttributionProtocol
import AttributionQueue
import RedisClient

/// Deferred web ads in Redis, by nonce, for a day from the last registration, with the payload that each site got.
struct WebImpressionStore: Sendable {
  /// How long an ad is stored, seconds: 24 hours.
  static let lifetimeSeconds: Int64 = 86_400
  /// The greatest number of sites for which an ad is signed, so that a public nonce cannot fill the store.
  static let maxPayloads: Int64 = 100

  private static let keep = RedisScript(name: "web-keep", source: PackageResources.web_ad_keep_lua)
  private static let settle = RedisScript(name: "web-settle", source: PackageResources.web_payload_keep_lua)

  let redis: RedisClient

  /// Stores an ad for a day. If it is stored already, the day begins again, and payloads signed before are kept. Throws `already_exists` if
  /// another ad has its nonce.
  func keep(_ impression: DeferredWebImpression) async throws(RPCError) {
    let reply = try await run(Self.keep, impression.nonce, [.bytes(impression.stored), .integer(Self.lifetimeSeconds)])
    guard reply.integer == 1 else {
      throw RPCError(.alreadyExists, "another ad is kept under this nonce")
    }
  }

  /// The ad of a nonce, and the payload that the site got before, if any; nil if there is no ad.
  func find(_ nonce: WebAdNonce, sourceDomain: String) async throws(RPCError) -> (DeferredWebImpression, payload: [UInt8]?)? {
    let reply: RedisReply
    do throws(RedisError) {
      reply = try await redis.send(["HMGET", .string(Self.key(nonce)), "ad", .string(Self.field(sourceDomain))])
    } catch { throw Self.away }
    guard let values = reply.array, values.count == 2, let ad = values[0].bytes, let impression = DeferredWebImpression(stored: ad)
    else { return nil }
    return (impression, values[1].bytes)
  }

  /// Stores the payload signed for a site. Returns the stored one, which may be an earlier one; nil if the ad has expired.
  func settle(_ payload: [UInt8], nonce: WebAdNonce, sourceDomain: String) async throws(RPCError) -> [UInt8]? {
    try await run(
      Self.settle, nonce, [.string(Self.field(sourceDomain)), .bytes(payload), .integer(Self.maxPayloads)]
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
