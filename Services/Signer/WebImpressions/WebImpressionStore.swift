import AppleAttribution
import AttributionProtocol
import AttributionQueue
import RedisClient

/// Stores deferred web ads in Redis, by nonce, and for each ad the payload that was signed for each site.
///
/// `SignSKAdNetworkWebImpression` stores an ad with ``add(_:)``. When a device asks for the payload, `SignDeferredSKAdNetworkWebImpression`
/// reads the ad with ``find(_:sourceDomain:)``, signs it for the site, and stores the payload with ``addPayload(_:nonce:sourceDomain:)``,
/// so that later requests get the same payload.
struct WebImpressionStore: Sendable {
  /// How long an ad is stored after it was last added, seconds: 24 hours.
  static let lifetimeSeconds: Int64 = 86_400
  /// The greatest number of sites for which an ad is signed, so that someone who knows a nonce cannot fill the store.
  static let maxPayloads: Int64 = 100

  private static let addScript = RedisScript(name: "web-keep", source: PackageResources.web_ad_keep_lua)
  private static let addPayloadScript = RedisScript(name: "web-settle", source: PackageResources.web_payload_keep_lua)

  let redis: RedisClient

  /// Stores an ad for a day. If it is already stored, the day begins again, and its payloads remain. Throws `already_exists` if another ad
  /// has the same nonce.
  func add(_ impression: DeferredWebImpression) async throws(RPCError) {
    let reply = try await run(Self.addScript, impression.nonce, [.bytes(impression.stored), .integer(Self.lifetimeSeconds)])
    guard reply.integer == 1 else {
      throw RPCError(.alreadyExists, "another web ad is stored under this nonce")
    }
  }

  /// The ad of a nonce, and the payload that was signed for the site before, if any; nil if there is no ad.
  func find(_ nonce: WebAdNonce, sourceDomain: String) async throws(RPCError) -> (DeferredWebImpression, payload: [UInt8]?)? {
    let reply: RedisReply
    do throws(RedisError) {
      reply = try await redis.send(["HMGET", .string(Self.key(nonce)), "ad", .string(Self.field(sourceDomain))])
    } catch { throw Self.unavailable }
    guard let values = reply.array, values.count == 2, let ad = values[0].bytes, let impression = DeferredWebImpression(stored: ad)
    else { return nil }
    return (impression, values[1].bytes)
  }

  /// Stores the payload that was signed for a site, and returns it. If the site has one already, returns that one; so concurrent requests
  /// get the same payload. Nil if the ad has expired, or was signed for too many sites.
  func addPayload(_ payload: [UInt8], nonce: WebAdNonce, sourceDomain: String) async throws(RPCError) -> [UInt8]? {
    try await run(
      Self.addPayloadScript, nonce, [.string(Self.field(sourceDomain)), .bytes(payload), .integer(Self.maxPayloads)]
    ).bytes
  }

  private func run(_ script: RedisScript, _ nonce: WebAdNonce, _ arguments: [RedisArgument]) async throws(RPCError) -> RedisReply {
    do throws(RedisError) {
      return try await script.run(on: redis, keys: [Self.key(nonce)], arguments: arguments)
    } catch { throw Self.unavailable }
  }

  private static let unavailable = RPCError.unavailable("the store of web ads is unavailable", reason: "STORE_UNAVAILABLE")

  private static func key(_ nonce: WebAdNonce) -> String { Keys.own("signer", "web:\(nonce.uuid)", shardOf: nonce.uuid) }

  /// The field of the payload for a site, in the hash of the nonce.
  private static func field(_ sourceDomain: String) -> String { "payload:" + sourceDomain }
}
