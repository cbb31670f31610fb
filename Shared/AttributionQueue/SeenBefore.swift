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
  func digest(_ key: String) -> [UInt8] { HMACSHA256.authenticate(Array(key.utf8), key: digestKey) }

  func claim(_ key: String, store: SeenStore, shard: Shard, now: Int64) -> Claim {
    claim(digest: digest(key), store: store, shard: shard, now: now)
  }

  /// - Parameter digest: ``digest(_:)`` of the key.
  func claim(digest: [UInt8], store: SeenStore, shard: Shard, now: Int64) -> Claim {
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
    return Hex.encode(digest(orderKey)[16..<32])
  }

  func deliveryID(_ request: AcceptRequest) -> DeliveryID { deliveryID(request, digest: digest(request.idempotencyKey)) }

  /// - Parameter digest: ``digest(_:)`` of the idempotency key.
  func deliveryID(_ request: AcceptRequest, digest: [UInt8]) -> DeliveryID {
    let place = (request.orderKey ?? request.naturalKey).map(self.digest) ?? digest
    return DeliveryID(shard: Shard(Int(place[0])), digest: Hex.encode(digest[16..<32]))
  }
}
