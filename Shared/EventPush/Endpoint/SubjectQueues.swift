/// The events of an endpoint that keeps order, in one queue for each subject: only the first event of a queue may be posted.
///
/// Shards are read one after the other, so an event may be added after later events of its subject. An event is therefore released for
/// posting only when its publication time is not after the watermark, because then no earlier event can be added any more.
struct SubjectQueues: Sendable {
  private struct SubjectQueue {
    /// The events in order, from `first` on; those before `first` are settled.
    var positions: [EventPosition] = []
    var first = 0
    /// True from the release of the first event for posting until it is settled.
    var isHeadReleased = false

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

  /// Adds an event to the queue of its subject. It is released by ``advance(to:)`` or ``remove(_:)``.
  mutating func add(_ position: EventPosition, subject: String) {
    var queue = queues[subject] ?? SubjectQueue()
    subjects[position] = subject
    var index = queue.positions.count
    while index > queue.first, position < queue.positions[index - 1] { index -= 1 }
    // A released event stays the first.
    if queue.isHeadReleased { index = max(index, queue.first + 1) }
    queue.positions.insert(position, at: index)
    let isFirst = index == queue.first && !queue.isHeadReleased
    queues[subject] = queue
    if isFirst { waiting.insert(position, subject) }
  }

  /// Moves the watermark to a time, milliseconds since 1970. Returns the events that may be posted now.
  mutating func advance(to time: Int64) -> [EventPosition] {
    watermark = max(watermark, time)
    return released()
  }

  /// Removes a settled event. Returns the events that may be posted now.
  mutating func remove(_ position: EventPosition) -> [EventPosition] {
    guard let subject = subjects.removeValue(forKey: position), var queue = queues[subject] else { return [] }
    guard queue.head == position else {
      if let index = queue.positions[queue.first...].firstIndex(of: position) { queue.positions.remove(at: index) }
      queues[subject] = queue
      return []
    }
    queue.first += 1
    queue.isHeadReleased = false
    // Settled events are removed in large steps, because each removal moves the rest of the array.
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

  /// The events after the given one in its queue, if that is the first; otherwise none.
  func following(_ position: EventPosition) -> ArraySlice<EventPosition> {
    guard let subject = subjects[position], let queue = queues[subject], queue.head == position else { return [] }
    return queue.positions[(queue.first + 1)...]
  }

  /// Releases the first events of queues whose publication times the watermark has reached.
  private mutating func released() -> [EventPosition] {
    var released: [EventPosition] = []
    while let (position, subject) = waiting.first, position.feedPosition.milliseconds <= watermark {
      _ = waiting.popFirst()
      // An earlier event of the subject may have been added meanwhile.
      guard var queue = queues[subject], queue.head == position, !queue.isHeadReleased else { continue }
      queue.isHeadReleased = true
      queues[subject] = queue
      released.append(position)
    }
    return released
  }
}
