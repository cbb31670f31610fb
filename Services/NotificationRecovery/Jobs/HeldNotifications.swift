import AppStore
import AttributionQueue

/// What a recovery took in and holds back for more urgent notifications of the same window: their ids, by urgency and shard.
///
/// Kept in memory alone: each has a time at which it is worked even when the instance is gone.
struct HeldNotifications {
  /// So many at the most, some 20 MB; what is beyond waits for its own time.
  static let most = 200_000
  /// Ids that are let go by one call of the queue.
  static let batch = 200

  private var ids: [RecoveryUrgency: [Shard: [DeliveryID]]] = [:]
  private(set) var count = 0

  mutating func add(_ id: DeliveryID, _ urgency: RecoveryUrgency) {
    guard count < Self.most else { return }
    ids[urgency, default: [:]][id.shard, default: []].append(id)
    count += 1
  }

  /// Takes everything out: batches of one shard each, the most urgent first, in the order in which they were added.
  mutating func removeAll() -> [[DeliveryID]] {
    defer { self = HeldNotifications() }
    return ids.sorted { $0.key < $1.key }.flatMap { _, shards in
      shards.values.flatMap { ids in
        stride(from: 0, to: ids.count, by: Self.batch).map { Array(ids[$0..<min($0 + Self.batch, ids.count)]) }
      }
    }
  }
}
