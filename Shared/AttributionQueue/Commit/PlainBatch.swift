import RedisClient

/// A batch in which every message is finished with at most one event, and with a natural key if there is an event. Verified postbacks are
/// such messages, unless ``QueueConfiguration/unsignedDigests`` is on. A batch with a rejected postback, a retry or a message that keeps
/// its order is not plain and needs commit.lua.
///
/// If all natural keys are new, the commands that settle the batch are known beforehand: ``PlainCommit`` and ``CommitTransaction`` settle
/// it in less time than commit.lua.
struct PlainBatch: Sendable {
  /// The result of an attempt to settle the batch.
  enum Outcome: Sendable, Hashable {
    /// The batch was settled. `remaining`: the number of messages left in the stream.
    case settled(remaining: Int64)
    /// Nothing was changed: commit.lua must settle the batch, because another worker owns the shard, the stream has earlier messages, or a
    /// natural key was claimed before.
    case needsCommit
    /// Nothing was changed: the announced message is not the first of the stream.
    case notFirst
    /// Nothing was changed: a subscription requests original bytes, which only commit.lua stores.
    case keepsOriginals
    /// Nothing was changed, for another reason. The batch may be settled in another way.
    case notTried
  }

  /// Natural keys of one bucket.
  struct Bucket: Sendable {
    /// A claim in the bucket.
    let claim: DeduplicationStore.Claim
    var members: [Int64]
  }

  let queue: QueueName
  let shard: Shard
  let ownership: ShardOwnership
  let items: [CommitItem]
  /// The smallest entry id above that of the last message.
  let nextID: EntryID
  /// The expiry of delivery records, seconds.
  let recordSeconds: Int64
  let buckets: [Bucket]
  /// The number of natural keys that the batch claims.
  let claimCount: Int
  /// The number of events that the batch publishes.
  let eventCount: Int

  /// Nil if the batch needs commit.lua.
  init?(_ batch: CommitBatch, _ ownership: ShardOwnership) {
    guard batch.queue == .intake, batch.isFirst, ownership.form == .owned, !batch.isEmpty else { return nil }
    var buckets: [Bucket] = []
    var (claimCount, eventCount) = (0, 0)
    // Items are accessed by index, because copying an item is expensive.
    for index in batch.items.indices {
      guard batch.items[index].isPlain else { return nil }
      if batch.items[index].hasEvent { eventCount += 1 }
      guard let claim = batch.items[index].claim else { continue }
      claimCount += 1
      guard !claim.generations.mayBeOver(now: batch.now) else { return nil }
      guard let bucket = buckets.firstIndex(where: { $0.claim.isInBucket(of: claim) }) else {
        buckets.append(Bucket(claim: claim, members: [claim.member]))
        continue
      }
      // If two messages have the same natural key, only the first may publish its event, as commit.lua ensures.
      guard !buckets[bucket].members.contains(claim.member) else { return nil }
      buckets[bucket].members.append(claim.member)
    }
    (queue, shard, self.ownership, items) = (batch.queue, batch.shard, ownership, batch.items)
    nextID = batch.position.next
    recordSeconds = batch.recordSeconds
    (self.buckets, self.claimCount, self.eventCount) = (buckets, claimCount, eventCount)
  }
}
