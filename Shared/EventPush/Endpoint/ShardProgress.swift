import AttributionQueue

/// The progress of an endpoint in one shard: which events were read, and which of them are not settled.
struct ShardProgress: Sendable {
  private struct Entry: Sendable {
    let position: FeedPosition
    /// The last event that was read before this one.
    let before: FeedPosition
    /// The number of events that were read up to this one, including it.
    let number: Int
    var isSettled = false
  }

  /// The position up to which everything was read.
  private(set) var cursor: FeedPosition
  /// The stored position, up to which everything is settled.
  private var noted: FeedPosition
  private var notedNumber = 0
  /// The position from which offsets are counted: the stored position, unless another instance has moved it.
  private(set) var base: FeedPosition?
  /// The number of events that were read.
  private var number = 0
  private var entries: [Entry] = []
  private var first = 0

  init(at position: FeedPosition) {
    cursor = position
    noted = position
    base = position
  }

  /// Records that an event was read, in the order of the shard. A wanted event has to be settled.
  mutating func read(_ position: FeedPosition, isWanted: Bool) {
    number += 1
    if isWanted { entries.append(Entry(position: position, before: cursor, number: number)) }
    cursor = position
  }

  /// Moves the cursor over positions without events.
  mutating func skip(to position: FeedPosition) { cursor = max(cursor, position) }

  mutating func settle(_ position: FeedPosition) {
    var (low, high) = (first, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].position < position { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].position == position else { return }
    entries[low].isSettled = true
    while first < entries.count, entries[first].isSettled { first += 1 }
    if first > 64, first * 2 > entries.count {
      entries.removeFirst(first)
      first = 0
    }
  }

  /// The wanted events that are not settled, with the number of events between the stored position and each of them.
  var unsettled: [(position: FeedPosition, offset: Int)] {
    entries[first...].filter { !$0.isSettled }.map { ($0.position, $0.number - notedNumber) }
  }

  /// The number of events between the stored position and the cursor.
  var offset: Int { number - notedNumber }

  /// The position to store, and the number of events between the stored position and it; nil if nothing has changed.
  var toBeNoted: (position: FeedPosition, count: Int)? {
    let (position, upTo) = first < entries.count ? (entries[first].before, entries[first].number - 1) : (cursor, number)
    return position > noted ? (position, upTo - notedNumber) : nil
  }

  mutating func note(_ position: FeedPosition, count: Int) {
    noted = position
    base = position
    notedNumber += count
  }

  /// Takes over the progress of another instance: beyond the stored position, all events but these are settled.
  ///
  /// - Parameter base: the position from which offsets were counted, if it is known.
  mutating func resume(
    unsettled positions: [(position: FeedPosition, offset: Int)], cursor last: FeedPosition, offset: Int, base: FeedPosition?
  ) {
    self.base = base
    var before = cursor
    for (position, offset) in positions where position > before {
      entries.append(Entry(position: position, before: before, number: offset))
      before = position
    }
    guard last > cursor else { return }
    cursor = max(last, before)
    number = offset
  }
}
