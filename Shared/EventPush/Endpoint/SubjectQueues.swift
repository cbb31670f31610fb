/// The events of an endpoint that keeps order, in one queue per subject: the first event of a queue may be posted, the others wait.
///
/// Shards are read one after the other, so an earlier event may arrive later. An event may be posted only when its publication time is not
/// after the watermark, because then no earlier one can arrive.
struct SubjectQueues: Sendable {
  private struct Line {
    /// The events in order, from `first` on.
    var positions: [EventPosition] = []
    var first = 0
    /// True if the first event is being posted, waits for a retry, or was released for posting.
    var isTaken = false

    var head: EventPosition? { first < positions.count ? positions[first] : nil }
  }

  private var lines: [String: Line] = [:]
  private var subjects: [EventPosition: String] = [:]
  /// The first events of queues that wait for the watermark.
  private var waiting = MinimumHeap<EventPosition, String>()
  /// The watermark: all events published up to this time were read; milliseconds since 1970.
  private var watermark: Int64 = .min

  /// The number of events.
  var count: Int { subjects.count }

  mutating func add(_ position: EventPosition, subject: String) {
    var line = lines[subject] ?? Line()
    subjects[position] = subject
    var at = line.positions.count
    while at > line.first, position < line.positions[at - 1] { at -= 1 }
    // A released event stays the first.
    if line.isTaken { at = max(at, line.first + 1) }
    line.positions.insert(position, at: at)
    let isFirst = at == line.first && !line.isTaken
    lines[subject] = line
    if isFirst { waiting.insert(position, subject) }
  }

  /// Moves the watermark. Returns the events that may be posted now.
  mutating func advance(to time: Int64) -> [EventPosition] {
    watermark = max(watermark, time)
    return released()
  }

  /// Removes a settled event. Returns the events that may be posted because of that.
  mutating func remove(_ position: EventPosition) -> [EventPosition] {
    guard let subject = subjects.removeValue(forKey: position), var line = lines[subject] else { return [] }
    guard line.head == position else {
      if let at = line.positions[line.first...].firstIndex(of: position) { line.positions.remove(at: at) }
      lines[subject] = line
      return []
    }
    line.first += 1
    line.isTaken = false
    if line.first > 64, line.first * 2 > line.positions.count {
      line.positions.removeFirst(line.first)
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
  func behind(_ position: EventPosition) -> ArraySlice<EventPosition> {
    guard let subject = subjects[position], let line = lines[subject], line.head == position else { return [] }
    return line.positions[(line.first + 1)...]
  }

  private mutating func released() -> [EventPosition] {
    var released: [EventPosition] = []
    while let (position, subject) = waiting.first, position.feedPosition.milliseconds <= watermark {
      _ = waiting.popFirst()
      // An earlier event of the subject may have been added meanwhile.
      guard var line = lines[subject], line.head == position, !line.isTaken else { continue }
      line.isTaken = true
      lines[subject] = line
      released.append(position)
    }
    return released
  }
}
