import Synchronization

/// Token buckets by key in a table of fixed size, so that requests from ever new addresses use no more memory.
///
/// The table is set-associative: a key has a set of eight slots. If all are in use, the bucket with the most tokens left is evicted,
/// because its owner gains the least from that.
final class RateTable<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    var key: Key
    var bucket: RequestBucket
  }

  private static var ways: Int { 8 }
  /// The number of stripes; the sets of a stripe share a lock.
  private static var stripes: Int { 64 }

  private let sets: Int
  private let stripes: [Stripe]

  private final class Stripe: Sendable {
    let sets: Mutex<[Int: [Entry]]> = Mutex([:])
  }

  /// - Parameter maxKeys: the maximum number of keys, at least 512; rounded down to a size that the table can have.
  init(maxKeys: Int) {
    sets = max(1, maxKeys / (Self.ways * Self.stripes))
    stripes = (0..<Self.stripes).map { _ in Stripe() }
  }

  /// Counts one request of the key. Returns nil if it is allowed, otherwise how long to wait.
  func take(_ key: Key, _ rate: RequestRate, now: Int64) -> Duration? { taking(key, rate, now: now).wait }

  /// Counts one request, and also returns the state of the key's rate limit.
  func taking(_ key: Key, _ rate: RequestRate, now: Int64) -> (wait: Duration?, bucket: RequestBucket) {
    // Swift seeds its hashes in each process, so a sender cannot aim at a slot.
    let hash = UInt(bitPattern: key.hashValue)
    let stripe = stripes[Int(hash % UInt(Self.stripes))]
    let set = Int(hash / UInt(Self.stripes) % UInt(sets))
    return stripe.sets.withLock { sets in
      let count = sets[set]?.count ?? 0
      for index in 0..<count where sets[set]![index].key == key {
        let wait = sets[set]![index].bucket.take(rate, now: now)
        return (wait, sets[set]![index].bucket)
      }
      var bucket = RequestBucket(full: rate, now: now)
      let wait = bucket.take(rate, now: now)
      let entry = Entry(key: key, bucket: bucket)
      if count < Self.ways {
        sets[set, default: []].append(entry)
      } else {
        for index in 0..<count { sets[set]![index].bucket.refill(rate, now: now) }
        let fullest = (0..<count).max { sets[set]![$0].bucket.left < sets[set]![$1].bucket.left }!
        sets[set]![fullest] = entry
      }
      return (wait, bucket)
    }
  }

  /// The number of keys in the table.
  var count: Int { stripes.reduce(0) { $0 + $1.sets.withLock { $0.values.reduce(0) { $0 + $1.count } } } }
}

/// The clock of rate limits.
enum RateClock {
  private static let start = ContinuousClock.now

  /// Nanoseconds since the first use.
  static func now() -> Int64 { Int64(start.duration(to: .now) / .nanoseconds(1)) }
}
