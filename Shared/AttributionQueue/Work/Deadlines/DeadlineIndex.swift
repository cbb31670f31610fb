/// What a ``DeadlineWorker`` knows about all shards: how many messages wait, and their nearest deadlines. It chooses the messages with the
/// nearest deadlines over all shards.
///
/// This type has no clock. All times are milliseconds since 1970; the current time is a parameter.
struct DeadlineIndex: Sendable {
  struct Entry: Sendable {
    /// The nearest deadlines of waiting messages in order; more messages may wait than are listed.
    var coming: [Int64] = []
    /// The number of waiting messages.
    var waiting = 0
    /// True if the shard may have changed since it was queried.
    var isStale = true
  }

  private(set) var entries = Array(repeating: Entry(), count: Shard.count)

  /// The number of messages that are known to wait.
  var waiting: Int { entries.reduce(0) { $0 + $1.waiting } }

  /// The nearest deadline of a waiting message.
  var nearest: Int64? { entries.compactMap(\.coming.first).min() }

  /// Shards that must be queried before messages are chosen.
  var stale: [Int] { entries.indices.filter { entries[$0].isStale } }

  /// Marks a shard as changed; nil marks all shards.
  mutating func mark(_ shard: Int?) {
    guard let shard else {
      for index in entries.indices { entries[index].isStale = true }
      return
    }
    entries[shard & (Shard.count - 1)].isStale = true
  }

  /// Records that a query of the shard begins, after which the shard is not stale. A ``mark(_:)`` during the query makes it stale again.
  mutating func beginQuery(_ shard: Int) { entries[shard].isStale = false }

  /// Records the result of a query of the shard.
  mutating func update(_ shard: Int, coming: [Int64], waiting: Int) {
    entries[shard] = Entry(coming: coming, waiting: max(waiting, coming.count), isStale: entries[shard].isStale)
  }

  /// The time at which some worker must query a shard again: after `every` milliseconds if messages still wait there, or when the next
  /// delayed message is due, whichever is sooner. Nil if nothing waits and nothing is delayed.
  static func nextQuery(waiting: Int, nextDue: Int64?, now: Int64, every: Int64) -> Int64? {
    guard waiting > 0 else { return nextDue }
    return min(now + every, nextDue ?? .max)
  }

  /// The number of known messages past their deadline.
  func overdue(now: Int64) -> Int { entries.reduce(0) { $0 + $1.coming.prefix { $0 <= now }.count } }

  /// How many messages to take from each shard, so that together they are the `limit` messages with the nearest deadlines. `latest` is the
  /// latest deadline among them.
  ///
  /// The result has fewer messages if a shard has some whose deadlines are not known: these may be nearer than the known ones of other
  /// shards.
  func nearest(_ limit: Int) -> (counts: [Int: Int], latest: Int64) {
    // The last known deadline of a shard that has more messages. After it, unknown deadlines of that shard could be nearer.
    var horizon = Int64.max
    var heads: [Head] = []
    for (shard, entry) in entries.enumerated() {
      guard let first = entry.coming.first, let last = entry.coming.last else { continue }
      heads.append(Head(deadline: first, shard: shard, index: 0))
      if entry.waiting > entry.coming.count { horizon = min(horizon, last) }
    }
    // Makes `heads` a heap: the nearest deadline is the first.
    for index in stride(from: heads.count / 2 - 1, through: 0, by: -1) { Self.sink(&heads, index) }
    var counts: [Int: Int] = [:]
    var latest = Int64.min
    for _ in 0..<max(0, limit) {
      guard let head = heads.first, head.deadline <= horizon else { break }
      counts[head.shard, default: 0] += 1
      latest = head.deadline
      let coming = entries[head.shard].coming
      if head.index + 1 < coming.count {
        heads[0] = Head(deadline: coming[head.index + 1], shard: head.shard, index: head.index + 1)
      } else {
        heads[0] = heads[heads.count - 1]
        heads.removeLast()
      }
      Self.sink(&heads, 0)
    }
    return (counts, latest)
  }

  /// The next deadline of a shard, and its index in ``Entry/coming``.
  private struct Head {
    var deadline: Int64
    var shard: Int
    var index: Int
  }

  /// Restores the heap after the element at `start` has grown.
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
