import AttributionQueue

/// The progress of an endpoint in one shard: which events were read, and which of them are not settled.
struct ShardProgress: Sendable {
  private struct Entry: Sendable {
    let place: FeedPosition
    /// The last event before it that was read.
    let before: FeedPosition
    /// Events that were read up to it, itself included.
    let number: Int
    var isSettled = false
  }

  /// Everything up to here was read.
  private(set) var cursor: FeedPosition
  /// What was noted last: everything up to there is settled.
  private var noted: FeedPosition
  private var notedNumber = 0
  /// From where events were counted: what was noted last, unless another has moved that.
  private(set) var base: FeedPosition?
  /// Events that were read.
  private var number = 0
  private var entries: [Entry] = []
  private var first = 0

  init(at place: FeedPosition) {
    cursor = place
    noted = place
    base = place
  }

  /// Notes that an event was read, in the order of the shard. One that is wanted has to be settled.
  mutating func read(_ place: FeedPosition, isWanted: Bool) {
    number += 1
    if isWanted { entries.append(Entry(place: place, before: cursor, number: number)) }
    cursor = place
  }

  /// Nothing is left between the last event that was read and this place.
  mutating func skip(to place: FeedPosition) { cursor = max(cursor, place) }

  mutating func settle(_ place: FeedPosition) {
    var (low, high) = (first, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].place < place { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].place == place else { return }
    entries[low].isSettled = true
    while first < entries.count, entries[first].isSettled { first += 1 }
    if first > 64, first * 2 > entries.count {
      entries.removeFirst(first)
      first = 0
    }
  }

  /// Events that were read, are wanted and not settled, with how many events lie between what was noted and each of them.
  var unsettled: [(place: FeedPosition, offset: Int)] {
    entries[first...].filter { !$0.isSettled }.map { ($0.place, $0.number - notedNumber) }
  }

  var hasUnsettled: Bool { first < entries.count }

  /// How many events lie between what was noted and the cursor.
  var offset: Int { number - notedNumber }

  /// What may be noted by now, and how many events lie between that and what was noted before; nil when it is nothing new.
  var toBeNoted: (place: FeedPosition, count: Int)? {
    let (place, upTo) = first < entries.count ? (entries[first].before, entries[first].number - 1) : (cursor, number)
    return place > noted ? (place, upTo - notedNumber) : nil
  }

  mutating func note(_ place: FeedPosition, count: Int) {
    noted = place
    base = place
    notedNumber += count
  }

  /// Takes over what another has read beyond the place that was noted: all but these events is settled.
  ///
  /// - Parameter base: from where offsets were counted, where that is known.
  mutating func resume(unsettled places: [(place: FeedPosition, offset: Int)], cursor last: FeedPosition, offset: Int, base: FeedPosition?)
  {
    self.base = base
    var before = cursor
    for (place, offset) in places where place > before {
      entries.append(Entry(place: place, before: before, number: offset))
      before = place
    }
    guard last > cursor else { return }
    cursor = max(last, before)
    number = offset
  }
}
