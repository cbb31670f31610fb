import Cryptography
import RedisClient

/// The integer-set store of what was seen: 64 bits of a keyed digest in buckets that expire whole.
struct SeenBefore: Sendable {
  let digestKey: [UInt8]
  let configuration: QueueConfiguration

  struct Claim {
    /// This generation's bucket, the last one's, the next one's.
    let buckets: [String]
    /// Signed, so that the set stays an integer set.
    let member: Int64
    let expirySeconds: Int64
  }

  /// The digest is keyed with a secret, so that nobody can aim at a bucket.
  func claim(_ key: String, store: SeenStore, shard: Shard, now: Int64) -> Claim {
    let digest = HMACSHA256.authenticate(Array(key.utf8), key: digestKey)
    let bucketBits = digest[4..<8].reduce(0) { $0 << 8 | Int($1) }
    let member = digest[8..<16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let length = (store == .delivery ? configuration.deliveryGeneration : configuration.notificationGeneration)
      .milliseconds
    let generation = now / length
    return Claim(
      buckets: [generation, generation - 1, generation + 1].map {
        Keys.seen(store, generation: $0, bucket: bucketBits % configuration.seenBuckets, shard)
      },
      member: Int64(bitPattern: member), expirySeconds: 2 * length / 1000 + 3600)
  }

  /// What the line of the request's order key is told by; nil when it keeps no order.
  func line(_ request: AcceptRequest) -> String? {
    guard request.keepsOrder, let orderKey = request.orderKey else { return nil }
    return Hex.encode(HMACSHA256.authenticate(Array(orderKey.utf8), key: digestKey)[16..<32])
  }

  func deliveryID(_ request: AcceptRequest) -> DeliveryID {
    let digest = HMACSHA256.authenticate(Array(request.idempotencyKey.utf8), key: digestKey)
    let place = HMACSHA256.authenticate(
      Array((request.orderKey ?? request.naturalKey ?? request.idempotencyKey).utf8), key: digestKey)
    return DeliveryID(shard: Shard(Int(place[0])), digest: Hex.encode(digest[16..<32]))
  }
}
