/// The events of an endpoint that keeps order, in one queue per subject: the first event of a queue may be posted, the others wait.
///
/// Shards are read one after the other, so an earlier event may arrive later. An event may be posted only when its publication time is not
/// after the watermark, because then no earlier one can arrive.
struct SubjectQueues: Sendable {
  private struct SubjectQueue {
    /// The events in order, from `first` on.
    var positions: [EventPosition] = []
    var first = 0
    /// True if the first event is being posted, waits for a retry, or was released for posting.
    var isTaken = false

    var head: EventPosition? { first < positions.count ? positions[first] : nil }
  }

  private var queues: [String: SubjectQueue] = [:]
  private var subjects: [EventPosition: String] = [:]
  /// The first events of queues that wait for the watermark.
  private var waiting = MinimumHeap<EventPosition, String>()
  /// The watermark: all events published up to this time were read; milliseconds since 1970.
  private var watermark: Int64 = .min

  /// The number of events.
  var count: Int { subjects.count }

  mutating func add(_ position: EventPosition, subject: String) {
    var queue = queues[subject] ?? SubjectQueue()
    subjects[position] = subject
    var at = queue.positions.count
    while at > queue.first, position < queue.positions[at - 1] { at -= 1 }
    // A released event stays the first.
    if queue.isTaken { at = max(at, queue.first + 1) }
    queue.positions.insert(position, at: at)
    let isFirst = at == queue.first && !queue.isTaken
    queues[subject] = queue
    if isFirst { waiting.insert(position, subject) }
  }

  /// Moves the watermark. Returns the events that may be posted now.
  mutating func advance(to time: Int64) -> [EventPosition] {
    watermark = max(watermark, time)
    return released()
  }

  /// Removes a settled event. Returns the events that may be posted because of that.
  mutating func remove(_ position: EventPosition) -> [EventPosition] {
    guard let subject = subjects.removeValue(forKey: position), var queue = queues[subject] else { return [] }
    guard queue.head == position else {
      if let at = queue.positions[queue.first...].firstIndex(of: position) { queue.positions.remove(at: at) }
      queues[subject] = queue
      return []
    }
    queue.first += 1
    queue.isTaken = false
    if queue.first > 64, queue.first * 2 > queue.positions.count {
      queue.positions.removeFirst(queue.first)
      queue.first = 0
    }
    if let head = queue.head {
      queues[subject] = queue
      waiting.insert(head, subject)
    } else {
      queues.removeValue(forKey: subject)
    }
    return released()
  }

  /// The events after one in its queue.
  func following(_ position: EventPosition) -> ArraySlice<EventPosition> {
    guard let subject = subjects[position], let queue = queues[subject], queue.head == position else { return [] }
    return queue.positions[(queue.first + 1)...]
  }

  private mutating func released() -> [EventPosition] {
    var released: [EventPosition] = []
    while let (position, subject) = waiting.first, position.feedPosition.milliseconds <= watermark {
      _ = waiting.popFirst()
      // An earlier event of the subject may have been added meanwhile.
      guard var queue = queues[subject], queue.head == position, !queue.isTaken else { continue }
      queue.isTaken = true
      queues[subject] = queue
      released.append(position)
    }
    return released
  }
}
