/// The events of an endpoint that keeps order, in one queue per subject: the first event of a queue may be posted, the others wait.
///
/// Shards are read one after the other, so an earlier event may arrive later. An event may be posted only when its publication time is not after the
/// watermark, because then no earlier one can arrive.
struct SubjectQueues: Sendable {
  private struct Line {
    /// In order, from `first` on.
    var places: [EventPosition] = []
    var first = 0
    /// Whether the first one is posted, waits to be tried again, or is among those that are ready.
    var isTaken = false

    var head: EventPosition? { first < places.count ? places[first] : nil }
  }

  private var lines: [String: Line] = [:]
  private var subjects: [EventPosition: String] = [:]
  /// First events of queues that wait for the watermark.
  private var waiting = MinimumHeap<EventPosition, String>()
  /// Events were published up to this time, and all of them were read; milliseconds since 1970.
  private var watermark: Int64 = .min

  /// Whether an event waits for its turn.
  var count: Int { subjects.count }

  mutating func add(_ place: EventPosition, subject: String) {
    var line = lines[subject] ?? Line()
    subjects[place] = subject
    var at = line.places.count
    while at > line.first, place < line.places[at - 1] { at -= 1 }
    // What is taken stays the first.
    if line.isTaken { at = max(at, line.first + 1) }
    line.places.insert(place, at: at)
    let isFirst = at == line.first && !line.isTaken
    lines[subject] = line
    if isFirst { waiting.insert(place, subject) }
  }

  /// Events whose turn has come up to this time.
  mutating func advance(to time: Int64) -> [EventPosition] {
    watermark = max(watermark, time)
    return released()
  }

  /// Takes out an event that is settled; answers events whose turn has come by it.
  mutating func remove(_ place: EventPosition) -> [EventPosition] {
    guard let subject = subjects.removeValue(forKey: place), var line = lines[subject] else { return [] }
    guard line.head == place else {
      if let at = line.places[line.first...].firstIndex(of: place) { line.places.remove(at: at) }
      lines[subject] = line
      return []
    }
    line.first += 1
    line.isTaken = false
    if line.first > 64, line.first * 2 > line.places.count {
      line.places.removeFirst(line.first)
      line.first = 0
    }
    if let head = line.head {
      lines[subject] = line
      waiting.insert(head, subject)
    } else {
      lines.removeValue(forKey: subject)
    }
    return released()
  }

  /// The events after one in its queue.
  func behind(_ place: EventPosition) -> ArraySlice<EventPosition> {
    guard let subject = subjects[place], let line = lines[subject], line.head == place else { return [] }
    return line.places[(line.first + 1)...]
  }

  private mutating func released() -> [EventPosition] {
    var released: [EventPosition] = []
    while let (place, subject) = waiting.first, place.place.milliseconds <= watermark {
      _ = waiting.popFirst()
      // An earlier one may have come before it meanwhile.
      guard var line = lines[subject], line.head == place, !line.isTaken else { continue }
      line.isTaken = true
      lines[subject] = line
      released.append(place)
    }
    return released
  }
}
