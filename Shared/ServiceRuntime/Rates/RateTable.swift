import Synchronization

/// Buckets by key, in a table of fixed size: whoever comes from ever new addresses costs no more memory.
///
/// A key has a set of eight places. Where all are taken, the one with most left gives way: forgetting it gives its owner the least.
final class RateTable<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    var key: Key
    var bucket: RequestBucket
  }

  private static var ways: Int { 8 }
  /// Of sets that share a lock.
  private static var stripes: Int { 64 }

  private let sets: Int
  private let stripes: [Stripe]

  private final class Stripe: Sendable {
    let sets: Mutex<[Int: [Entry]]> = Mutex([:])
  }

  /// - Parameter most: keys at the most, at least 512 and rounded down to such.
  init(most: Int) {
    sets = max(1, most / (Self.ways * Self.stripes))
    stripes = (0..<Self.stripes).map { _ in Stripe() }
  }

  /// Takes one request of that key; nil when it is let through, or how long to wait.
  func take(_ key: Key, _ rate: RequestRate, now: Int64) -> Duration? { taking(key, rate, now: now).wait }

  /// The same, with what is left to that key afterwards.
  func taking(_ key: Key, _ rate: RequestRate, now: Int64) -> (wait: Duration?, bucket: RequestBucket) {
    // Swift's hashes are seeded anew in each process: nobody can aim at a place.
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

  /// Keys that are known now.
  var count: Int { stripes.reduce(0) { $0 + $1.sets.withLock { $0.values.reduce(0) { $0 + $1.count } } } }
}

/// The clock of rates.
enum RateClock {
  private static let start = ContinuousClock.now

  /// Nanoseconds since the first look.
  static func now() -> Int64 { Int64(start.duration(to: .now) / .nanoseconds(1)) }
}
