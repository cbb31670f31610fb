import AttributionProtocol

/// The events that a reader holds, and what is to be told of them. Knows no server and no clock: both are handed in.
struct EventLeases: Sendable {
  typealias Instant = ContinuousClock.Instant

  struct HeldEvent: Sendable {
    let ackId: String
    let event: CloudEvent
    var until: Instant
  }

  /// Those that are not begun, in their order.
  private var waiting: ArraySlice<HeldEvent> = []
  private(set) var current: HeldEvent?
  /// Dealt with, and not told yet.
  private(set) var done: [String] = []
  /// To be handed to others, and not told yet.
  private(set) var given: [String] = []

  /// How many are held.
  var count: Int { waiting.count + (current == nil ? 0 : 1) }

  mutating func add(_ events: [(ackId: String, event: CloudEvent)], until: Instant) {
    waiting.append(contentsOf: events.map { HeldEvent(ackId: $0.ackId, event: $0.event, until: until) })
  }

  /// The next event. Those whose lease ran out before they were begun are others' by now.
  mutating func begin(now: Instant) -> HeldEvent? {
    assert(current == nil)
    while let next = waiting.popFirst() {
      guard next.until > now else { continue }
      current = next
      return next
    }
    return nil
  }

  /// The current event was dealt with, also when its lease has run out meanwhile.
  mutating func finish() {
    if let current { done.append(current.ackId) }
    current = nil
  }

  /// The same of one event, if it is the current one.
  mutating func finish(_ ackId: String) { if current?.ackId == ackId { finish() } }

  /// Gives back the current event, and those of its subject that follow it: where order is kept they come after it.
  mutating func giveBack(_ ackId: String) {
    guard let event = current, event.ackId == ackId else { return }
    let following = waiting.filter { $0.event.subject != nil && $0.event.subject == event.event.subject }
    waiting.removeAll { $0.event.subject != nil && $0.event.subject == event.event.subject }
    given.append(ackId)
    given += following.map(\.ackId)
    current = nil
  }

  /// Everything that is not dealt with goes to others.
  mutating func giveBackAll() {
    if let current { given.append(current.ackId) }
    given += waiting.map(\.ackId)
    current = nil
    waiting = []
  }

  /// Those that are not begun go to others: some of them are lost to this reader, and it cannot tell which.
  mutating func giveBackWaiting() {
    given += waiting.map(\.ackId)
    waiting = []
  }

  /// Whose lease has less than `margin` left, and has not run out.
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

  mutating func takeGiven() -> [String] {
    defer { given = [] }
    return given
  }

  /// What could not be told is told later.
  mutating func restore(done ackIds: [String]) { done = ackIds + done }
  mutating func restore(given ackIds: [String]) { given = ackIds + given }
}
