import AttributionProtocol

/// The events that a reader has leased, and the acknowledgements that it must send. It makes no calls, and times are passed in.
struct EventLeases: Sendable {
  typealias Instant = ContinuousClock.Instant

  struct HeldEvent: Sendable {
    let ackId: String
    let event: CloudEvent
    var until: Instant
  }

  /// Events that were not begun, in order.
  private var waiting: ArraySlice<HeldEvent> = []
  private(set) var current: HeldEvent?
  /// Processed events that were not acknowledged yet.
  private(set) var done: [String] = []
  /// Released events whose leases were not given back yet.
  private(set) var released: [String] = []

  /// The number of leased events.
  var count: Int { waiting.count + (current == nil ? 0 : 1) }

  mutating func add(_ events: [(ackId: String, event: CloudEvent)], until: Instant) {
    waiting.append(contentsOf: events.map { HeldEvent(ackId: $0.ackId, event: $0.event, until: until) })
  }

  /// The next event. Events whose lease expired before they were begun are skipped, because other readers may have them.
  mutating func begin(now: Instant) -> HeldEvent? {
    assert(current == nil)
    while let next = waiting.popFirst() {
      guard next.until > now else { continue }
      current = next
      return next
    }
    return nil
  }

  /// Marks the current event as processed, even if its lease has expired.
  mutating func finish() {
    if let current { done.append(current.ackId) }
    current = nil
  }

  /// Marks an event as processed, if it is the current one.
  mutating func finish(_ ackId: String) { if current?.ackId == ackId { finish() } }

  /// Releases the current event, and the later ones of its subject, which must follow it if order is kept.
  mutating func release(_ ackId: String) {
    guard let event = current, event.ackId == ackId else { return }
    let following = waiting.filter { $0.event.subject != nil && $0.event.subject == event.event.subject }
    waiting.removeAll { $0.event.subject != nil && $0.event.subject == event.event.subject }
    released.append(ackId)
    released += following.map(\.ackId)
    current = nil
  }

  /// Releases all events that were not processed.
  mutating func releaseAll() {
    if let current { released.append(current.ackId) }
    released += waiting.map(\.ackId)
    current = nil
    waiting = []
  }

  /// Releases all events that were not begun, because some of them are lost to this reader and it is unknown which.
  mutating func releaseWaiting() {
    released += waiting.map(\.ackId)
    waiting = []
  }

  /// The events whose lease has less than `margin` left and has not expired.
  func toExtend(now: Instant, margin: Duration) -> [String] {
    (waiting + (current.map { [$0] } ?? [])).filter { $0.until > now && $0.until - now < margin }.map(\.ackId)
  }

  mutating func extend(_ ackIds: [String], until: Instant) {
    let extended = Set(ackIds)
    for index in waiting.indices where extended.contains(waiting[index].ackId) { waiting[index].until = until }
    if let ackId = current?.ackId, extended.contains(ackId) { current?.until = until }
  }

  mutating func takeDone() -> [String] {
    defer { done = [] }
    return done
  }

  mutating func takeReleased() -> [String] {
    defer { released = [] }
    return released
  }

  /// Puts acknowledgements back that could not be sent.
  mutating func restore(done ackIds: [String]) { done = ackIds + done }
  mutating func restore(released ackIds: [String]) { released = ackIds + released }
}
