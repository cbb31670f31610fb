import AttributionProtocol

/// The events that a reader has leased, and the acknowledgements that it must send. It makes no calls, and times are passed in;
/// ``ReaderCore`` makes the calls.
///
/// ``add(_:until:)`` puts leased events at the end. ``begin(now:)`` makes the next one current, ``finish()`` marks it as processed, and
/// ``release(_:)`` gives it back.
struct EventLeases: Sendable {
  typealias Instant = ContinuousClock.Instant

  struct LeasedEvent: Sendable {
    /// The id of this delivery of the event.
    let ackId: String
    let event: CloudEvent
    /// The end of the lease.
    var until: Instant
  }

  /// Leased events whose processing has not begun, in order.
  private var waiting: ArraySlice<LeasedEvent> = []
  /// The event that is being processed.
  private(set) var current: LeasedEvent?
  /// The ids of processed events that are not acknowledged yet.
  private(set) var done: [String] = []
  /// The ids of released events whose leases are not given back yet.
  private(set) var released: [String] = []

  /// The number of leased events.
  var count: Int { waiting.count + (current == nil ? 0 : 1) }

  mutating func add(_ events: [(ackId: String, event: CloudEvent)], until: Instant) {
    waiting.append(contentsOf: events.map { LeasedEvent(ackId: $0.ackId, event: $0.event, until: until) })
  }

  /// Makes the next event the current one; nil if there is none. Events whose lease has expired are skipped, because other readers may have
  /// them.
  mutating func begin(now: Instant) -> LeasedEvent? {
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

  /// Releases an event, if it is the current one, and the later events of its subject, because they must not be delivered before it if
  /// order is kept.
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

  /// Releases all events that were not begun. The leases of some have ended, and it is unknown of which.
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

  /// Restores acknowledgements that could not be sent.
  mutating func restore(done ackIds: [String]) { done = ackIds + done }
  mutating func restore(released ackIds: [String]) { released = ackIds + released }
}
