import Synchronization

/// Token buckets by key, in a table of limited size, so that requests from very many addresses do not use more and more memory.
///
/// The table is set-associative: a key belongs to one set, which has eight slots. If all slots of the set are in use, the fullest bucket is
/// evicted. Its owner gets a full bucket with its next request, and gains the least from that.
final class RateTable<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    var key: Key
    var bucket: RequestBucket
  }

  /// The number of slots of a set.
  private static var ways: Int { 8 }
  /// The number of stripes. The sets of a stripe share a lock, and sets of different stripes do not wait for each other.
  private static var stripes: Int { 64 }

  /// The number of sets of a stripe.
  private let sets: Int
  private let stripes: [Stripe]

  private final class Stripe: Sendable {
    let sets: Mutex<[Int: [Entry]]> = Mutex([:])
  }

  /// - Parameter maxKeys: the maximum number of keys. It is rounded down to a multiple of 512, and is at least 512.
  init(maxKeys: Int) {
    sets = max(1, maxKeys / (Self.ways * Self.stripes))
    stripes = (0..<Self.stripes).map { _ in Stripe() }
  }

  /// Takes a token for one request of the key. Returns nil if the request is allowed, otherwise how long the caller must wait.
  func take(_ key: Key, _ rate: RequestRate, now: Int64) -> Duration? { takeReturningBucket(key, rate, now: now).wait }

  /// The same as ``take(_:_:now:)``, but also returns the key's bucket, from which its ``RateLimitStatus`` is made.
  func takeReturningBucket(_ key: Key, _ rate: RequestRate, now: Int64) -> (wait: Duration?, bucket: RequestBucket) {
    // Swift's hashes have a random seed in each process, so a sender cannot choose addresses that all share one set.
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
        let fullest = (0..<count).max { sets[set]![$0].bucket.tokens < sets[set]![$1].bucket.tokens }!
        sets[set]![fullest] = entry
      }
      return (wait, bucket)
    }
  }

  /// The number of keys in the table.
  var count: Int { stripes.reduce(0) { $0 + $1.sets.withLock { $0.values.reduce(0) { $0 + $1.count } } } }
}

/// The clock of rate limits, which does not jump when the system's clock is set.
enum RateClock {
  private static let start = ContinuousClock.now

  /// Nanoseconds since the first use.
  static func now() -> Int64 { Int64(start.duration(to: .now) / .nanoseconds(1)) }
}
