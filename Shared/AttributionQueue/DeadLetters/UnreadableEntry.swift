import Cryptography
import RedisClient

/// An entry of a ready stream that cannot be read as a message, because another version of this program or a person wrote it. A retry would
/// not help, so the entry becomes a dead letter.
struct UnreadableEntry: Sendable {
  /// The error in the dead letter.
  static let reason = "the entry cannot be read"

  let entryID: String
  /// The delivery id as the entry states it, valid or not.
  let id: [UInt8]
  let kind: String?
  /// Identifies the order line; nil for an entry that keeps no order.
  let line: String?
  /// True if the entry has all fields of a message, whatever their content.
  private let hasAllFields: Bool

  init(entryID: String, fields: RedisReply) {
    self.entryID = entryID
    let fields = EventFeed.fields(fields)
    id = fields["i"]?.bytes ?? []
    kind = fields["k"]?.string
    line = fields["o"]?.string
    hasAllFields = kind != nil && fields["b"]?.bytes != nil && fields["a"]?.bytes != nil
  }

  /// The id of the dead letter: the delivery's id if the entry states a valid one, otherwise a digest of the entry id.
  func deadLetterID(in shard: Shard) -> DeliveryID {
    deliveryID(in: shard) ?? DeliveryID(shard: shard, digest: Hex.encode(Array(SHA256Digest.hash(entryID).prefix(16))))
  }

  /// True if the dead letter may be replayed, for a worker that can read the entry.
  func isReplayable(in shard: Shard) -> Bool { hasAllFields && deliveryID(in: shard) != nil }

  private func deliveryID(in shard: Shard) -> DeliveryID? {
    String(validating: id, as: UTF8.self).flatMap(DeliveryID.init).flatMap { $0.shard == shard ? $0 : nil }
  }
}
