/// What a worker by deadline knows of the shards: where messages wait and by when each must be worked. It chooses those nearest their
/// end over all shards.
///
/// Pure: times are milliseconds since 1970 and passed in.
struct DeadlineIndex: Sendable {
  struct Entry: Sendable {
    /// The nearest deadlines of what waits, in order; there may be more behind them.
    var coming: [Int64] = []
    /// How many wait.
    var waiting = 0
    /// Whether something may be there that is not known yet.
    var isStale = true
  }

  private(set) var entries = Array(repeating: Entry(), count: Shard.count)

  /// Messages known to wait.
  var waiting: Int { entries.reduce(0) { $0 + $1.waiting } }

  /// The nearest deadline of what waits.
  var nearest: Int64? { entries.compactMap(\.coming.first).min() }

  /// Shards to be looked at before anything is chosen.
  var stale: [Int] { entries.indices.filter { entries[$0].isStale } }

  /// Something is new in a shard; nil: perhaps in any.
  mutating func mark(_ shard: Int?) {
    guard let shard else {
      for index in entries.indices { entries[index].isStale = true }
      return
    }
    entries[shard & (Shard.count - 1)].isStale = true
  }

  /// A look into the shard begins: what is told of it from now on is news.
  mutating func look(_ shard: Int) { entries[shard].isStale = false }

  /// What a look into the shard has shown.
  mutating func update(_ shard: Int, coming: [Int64], waiting: Int) {
    entries[shard] = Entry(coming: coming, waiting: max(waiting, coming.count), isStale: entries[shard].isStale)
  }

  /// When a shard must be looked at again, by whomever, after a look that left so many waiting: these are looked at every so many
  /// milliseconds, and a delayed message when it is due, if that is sooner.
  static func nextLook(waiting: Int, nextDue: Int64?, now: Int64, every: Int64) -> Int64? {
    guard waiting > 0 else { return nextDue }
    return min(now + every, nextDue ?? .max)
  }

  /// How many messages are past their deadline, as far as is known.
  func overdue(now: Int64) -> Int { entries.reduce(0) { $0 + $1.coming.prefix { $0 <= now }.count } }

  /// How many messages to take from which shards so that they are the `most` nearest their deadline of all. Fewer where what comes
  /// behind the known ones of a shard could be nearer than what other shards have.
  ///
  /// `latest` is the latest deadline among them.
  func nearest(_ most: Int) -> (counts: [Int: Int], latest: Int64) {
    // Nothing past the last known deadline of a shard that has more can be compared with what comes behind it.
    var horizon = Int64.max
    var heads: [Head] = []
    for (shard, entry) in entries.enumerated() {
      guard let first = entry.coming.first, let last = entry.coming.last else { continue }
      heads.append(Head(deadline: first, shard: shard, place: 0))
      if entry.waiting > entry.coming.count { horizon = min(horizon, last) }
    }
    // A heap of what is next in each shard.
    for index in stride(from: heads.count / 2 - 1, through: 0, by: -1) { Self.sink(&heads, index) }
    var counts: [Int: Int] = [:]
    var latest = Int64.min
    for _ in 0..<max(0, most) {
      guard let head = heads.first, head.deadline <= horizon else { break }
      counts[head.shard, default: 0] += 1
      latest = head.deadline
      let coming = entries[head.shard].coming
      if head.place + 1 < coming.count {
        heads[0] = Head(deadline: coming[head.place + 1], shard: head.shard, place: head.place + 1)
      } else {
        heads[0] = heads[heads.count - 1]
        heads.removeLast()
      }
      Self.sink(&heads, 0)
    }
    return (counts, latest)
  }

  private struct Head {
    var deadline: Int64
    var shard: Int
    var place: Int
  }

  private static func sink(_ heads: inout [Head], _ start: Int) {
    var index = start
    while true {
      var least = index
      for child in (2 * index + 1)...(2 * index + 2) where child < heads.count && heads[child].deadline < heads[least].deadline {
        least = child
      }
      guard least != index else { return }
      heads.swapAt(index, least)
      index = least
    }
  }
}
