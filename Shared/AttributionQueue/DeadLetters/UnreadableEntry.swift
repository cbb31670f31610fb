import Cryptography
import RedisClient

/// An entry of a ready stream that is no message: of another version of this program, or left by a hand in Redis. Working it again would
/// make nothing of it, so it becomes a dead letter.
struct UnreadableEntry: Sendable {
  /// What its letter says.
  static let reason = "the entry cannot be read"

  let entryID: String
  /// Its delivery's id as the entry tells it, whatever that is.
  let id: [UInt8]
  let kind: String?
  /// What the line of its order key is told by; nil for one that keeps no order.
  let line: String?
  /// Whether it has all that a message has, in whatever form.
  private let isWhole: Bool

  init(entryID: String, fields: RedisReply) {
    self.entryID = entryID
    let fields = EventFeed.fields(fields)
    id = fields["i"]?.bytes ?? []
    kind = fields["k"]?.string
    line = fields["o"]?.string
    isWhole = kind != nil && fields["b"]?.bytes != nil && fields["a"]?.bytes != nil
  }

  /// The letter's id: that of its delivery, or where the entry does not tell that one, one of the letter alone.
  func letterID(in shard: Shard) -> DeliveryID {
    deliveryID(in: shard) ?? DeliveryID(shard: shard, digest: Hex.encode(Array(SHA256Digest.hash(entryID).prefix(16))))
  }

  /// Whether a worker that can read it could be given it.
  func canBePutBack(in shard: Shard) -> Bool { isWhole && deliveryID(in: shard) != nil }

  private func deliveryID(in shard: Shard) -> DeliveryID? {
    String(validating: id, as: UTF8.self).flatMap(DeliveryID.init).flatMap { $0.shard == shard ? $0 : nil }
  }
}
