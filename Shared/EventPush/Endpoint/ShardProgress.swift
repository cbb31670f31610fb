import AttributionQueue

/// The progress of an endpoint in one shard: which events were read, and which of them are not settled.
///
/// Redis stores a position up to which all events are settled, and the number of events up to it, from which the subscription's backlog is
/// computed. ``read(_:isWanted:)`` and ``settle(_:)`` advance the progress, ``toBeStored`` is the next position to write, and
/// ``recordStored(_:count:)`` reports that it was written. ``resume(unsettled:cursor:offset:base:)`` continues the progress of another
/// instance.
struct ShardProgress: Sendable {
  /// A wanted event that was read.
  private struct Entry: Sendable {
    let position: FeedPosition
    /// The cursor before this event was read.
    let previousCursor: FeedPosition
    /// The number of events that were read up to this one, including it.
    let number: Int
    var isSettled = false
  }

  /// The position up to which everything was read.
  private(set) var cursor: FeedPosition
  /// The position that Redis stores, up to which everything is settled.
  private var stored: FeedPosition
  /// The number of events that were read up to the stored position.
  private var storedNumber = 0
  /// The position from which offsets count: the stored position, unless it has changed since because events were dropped. Nil if an older
  /// build stored the progress that this one continues.
  private(set) var base: FeedPosition?
  /// The number of events that were read up to the cursor.
  private var number = 0
  /// Wanted events in the order of the shard, from `first` on; those before `first` are settled.
  private var entries: [Entry] = []
  private var first = 0

  init(at position: FeedPosition) {
    cursor = position
    stored = position
    base = position
  }

  /// Records that an event was read. Events must be read in the order of the shard. A wanted event has to be settled; others only count.
  mutating func read(_ position: FeedPosition, isWanted: Bool) {
    number += 1
    if isWanted { entries.append(Entry(position: position, previousCursor: cursor, number: number)) }
    cursor = position
  }

  /// Moves the cursor over positions without events.
  mutating func skip(to position: FeedPosition) { cursor = max(cursor, position) }

  /// Records that a wanted event is settled.
  mutating func settle(_ position: FeedPosition) {
    // Binary search for the position.
    var (low, high) = (first, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].position < position { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].position == position else { return }
    entries[low].isSettled = true
    while first < entries.count, entries[first].isSettled { first += 1 }
    // Settled entries are removed in large steps, because each removal moves the rest of the array.
    if first > 64, first * 2 > entries.count {
      entries.removeFirst(first)
      first = 0
    }
  }

  /// The wanted events that are not settled, each with the number of events after the stored position up to it, including it.
  var unsettled: [(position: FeedPosition, offset: Int)] {
    entries[first...].filter { !$0.isSettled }.map { ($0.position, $0.number - storedNumber) }
  }

  /// The number of events after the stored position up to the cursor.
  var offset: Int { number - storedNumber }

  /// The position to store, and the number of events by which it is after the stored one; nil if nothing has changed.
  var toBeStored: (position: FeedPosition, count: Int)? {
    let (position, upTo) = first < entries.count ? (entries[first].previousCursor, entries[first].number - 1) : (cursor, number)
    return position > stored ? (position, upTo - storedNumber) : nil
  }

  /// Records that ``toBeStored`` was written.
  mutating func recordStored(_ position: FeedPosition, count: Int) {
    stored = position
    base = position
    storedNumber += count
  }

  /// Continues the progress of another instance. Of the events after the stored position up to the cursor, only the given ones are
  /// unsettled.
  ///
  /// - Parameters:
  ///   - positions: the unsettled events in the order of the shard, with their offsets.
  ///   - last: the cursor of the other instance.
  ///   - offset: the offset of that cursor.
  ///   - base: the position from which offsets count; nil if it is unknown.
  mutating func resume(
    unsettled positions: [(position: FeedPosition, offset: Int)], cursor last: FeedPosition, offset: Int, base: FeedPosition?
  ) {
    self.base = base
    var previous = cursor
    for (position, offset) in positions where position > previous {
      entries.append(Entry(position: position, previousCursor: previous, number: offset))
      previous = position
    }
    guard last > cursor else { return }
    cursor = max(last, previous)
    number = offset
  }
}
