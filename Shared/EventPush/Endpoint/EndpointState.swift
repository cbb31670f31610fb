import AttributionQueue

/// The state machine that decides what is posted to one endpoint, and when. It has no clock, socket or store: the caller reports what
/// happened and asks for the next action.
///
/// A refused event is retried by its own schedule. When no event is accepted any more, the endpoint counts as failing: one event at a time
/// is posted after pauses that grow to a minute, so that a recovered server is noticed soon and a dead one costs little. After the
/// recovery, events that failed meanwhile are due at once.
struct EndpointState: Sendable {
  /// The next action.
  enum Next {
    /// Post this event.
    case post(PushedEvent)
    /// Fetch these events from the feed, and pass them to ``loaded(_:)``.
    case load([EventPosition])
    /// There is nothing to do before this time, unless the caller reports something.
    case wait(until: Int64?)
  }

  /// The failed attempts of an event.
  struct Attempts: Sendable, Hashable {
    var count: Int
    /// The time of the first failure.
    var first: Int64
  }

  private struct Item {
    /// Nil if the event is not in memory.
    var event: PushedEvent?
    var attempts: Attempts?
    var due: Int64 = 0
    /// The time before which the endpoint asked not to be posted this event.
    var asked: Int64 = 0
    var isLoading = false
  }

  let rules: EndpointRules
  private(set) var health: EndpointHealth
  /// The reason why posting ends; nil as long as events are posted.
  private(set) var ending: Ending?
  private var items: [EventPosition: Item] = [:]
  private var queues = SubjectQueues()
  /// Events that may be posted, in this order, from `nextReady` on.
  private var ready: [EventPosition] = []
  private var nextReady = 0
  private var retries = MinimumHeap<Int64, EventPosition>()
  private var toLoad: [EventPosition] = []
  private var inFlight: Set<EventPosition> = []
  private var rate: SendRate
  private var failuresInARow = 0
  /// The end of the current pause of a failing endpoint.
  private var pausedUntil: Int64 = 0
  /// The time until which the endpoint asked not to be posted to. Successes of posts that were in flight already do not change it.
  private var askedUntil: Int64
  private var bytes = 0
  private var loaded = 0
  /// The number of events to keep in memory. It starts with twice the number of concurrent posts and grows with each accepted event.
  private var window: Int

  /// The reason why an endpoint is no longer posted to.
  enum Ending: Sendable, Hashable {
    /// The endpoint answered 410.
    case gone
    /// The endpoint failed for too long.
    case failing
  }

  init(rules: EndpointRules, health: EndpointHealth = EndpointHealth(), now: Int64) {
    self.rules = rules
    self.health = health
    rate = SendRate(perSecond: rules.maxPerSecond, now: now)
    window = 2 * rules.maxConcurrent
    askedUntil = health.retryAt ?? 0
    // An endpoint that failed before is probed with one event first.
    if health.failingSince != nil { failuresInARow = rules.suspectAfter }
  }

  /// True if the endpoint, and not a single event, counts as failing.
  var isSuspect: Bool { failuresInARow >= rules.suspectAfter }
  /// The number of posts in flight.
  var underWay: Int { inFlight.count }
  /// The number of unsettled events.
  var count: Int { items.count }

  /// The number of events that may be added.
  var room: Int {
    guard ending == nil, items.count < rules.maxWaiting, bytes < rules.windowBytes else { return 0 }
    return max(0, maxLoaded - loaded)
  }

  /// True if there is room for enough events to make a read worthwhile, or if nothing else can be posted.
  var isWorthReading: Bool {
    let room = room
    return room > 0 && (4 * room >= maxLoaded || nextReady == ready.count)
  }

  private var maxLoaded: Int { isSuspect ? 2 * rules.maxConcurrent : window }

  /// True if no event can be posted: all known events wait in their queues or for a retry.
  var isStarved: Bool { ending == nil && nextReady == ready.count && inFlight.isEmpty && toLoad.isEmpty && items.count < rules.maxWaiting }

  // MARK: Events

  /// Adds an event. One with failed attempts is due at once.
  mutating func add(_ event: PushedEvent, attempts: Attempts? = nil) {
    guard items[event.position] == nil else { return }
    items[event.position] = Item(event: event, attempts: attempts)
    loaded += 1
    bytes += event.size
    if rules.isOrdered {
      queues.add(event.position, subject: CloudEventParts.subject(event.json))
    } else {
      ready.append(event.position)
    }
  }

  /// Reports that all events up to this time have been added.
  mutating func advance(to time: Int64) {
    guard rules.isOrdered else { return }
    ready += queues.advance(to: time)
  }

  /// Takes the events of a ``Next/load(_:)``. Those that are nil no longer exist; they are settled, and their positions returned.
  mutating func loaded(_ events: [(position: EventPosition, event: PushedEvent?)]) -> [EventPosition] {
    var gone: [EventPosition] = []
    for (position, event) in events {
      guard var item = items[position], item.isLoading else { continue }
      item.isLoading = false
      item.event = event
      items[position] = item
      if let event {
        loaded += 1
        bytes += event.size
        ready.append(position)
      } else {
        settle(position)
        gone.append(position)
      }
    }
    return gone
  }

  /// The next action at this time.
  mutating func next(now: Int64) -> Next {
    guard ending == nil else { return .wait(until: nil) }
    while let (due, position) = retries.first, due <= now {
      _ = retries.popFirst()
      guard let item = items[position], !inFlight.contains(position), item.due == due else { continue }
      if item.event == nil { toLoad.append(position) } else { ready.append(position) }
    }
    if !toLoad.isEmpty {
      let positions = toLoad
      toLoad.removeAll()
      for position in positions { items[position]?.isLoading = true }
      return .load(positions)
    }
    let retry = retries.first?.key
    guard nextReady < ready.count else { return .wait(until: retry) }
    guard inFlight.count < (isSuspect ? 1 : rules.maxConcurrent) else { return .wait(until: nil) }
    let pause = max(pausedUntil, askedUntil)
    guard pause <= now else { return .wait(until: pause) }
    let position = ready[nextReady]
    guard let event = items[position]?.event else {
      nextReady += 1
      if items[position] != nil { toLoad.append(position) }
      return next(now: now)
    }
    if let later = rate.take(now: now) { return .wait(until: min(later, retry ?? later)) }
    nextReady += 1
    if nextReady > 64, nextReady * 2 > ready.count {
      ready.removeFirst(nextReady)
      nextReady = 0
    }
    inFlight.insert(position)
    return .post(event)
  }

  // MARK: Outcomes

  /// Reports that the endpoint accepted an event, which settles it. Returns true if the endpoint was suspect before.
  @discardableResult
  mutating func succeeded(_ position: EventPosition, now: Int64) -> Bool {
    guard inFlight.remove(position) != nil else { return false }
    let wasSuspect = isSuspect
    if wasSuspect { bringRetriesForward(since: health.failingSince ?? now, now: now) }
    failuresInARow = 0
    pausedUntil = 0
    health.lastSuccess = now
    health.failingSince = nil
    if askedUntil <= now { health.retryAt = nil }
    window = min(rules.window, window + 1)
    settle(position)
    return wasSuspect
  }

  /// The consequence of a failed post.
  enum Refusal: Sendable, Hashable {
    /// The event will be retried.
    case retried
    /// The event is given up, because it was retried for too long while others were accepted. That settles it.
    case givenUp
    /// The endpoint is not posted to any more.
    case ended(Ending)
  }

  /// Reports that the endpoint did not accept an event.
  ///
  /// - Parameters:
  ///   - retryAfter: the wait that the endpoint asked for, milliseconds.
  ///   - isBusy: true if the endpoint is too busy for any event.
  ///   - isGone: true if the endpoint accepts no more events.
  ///   - random: 0 to 1.
  mutating func failed(
    _ position: EventPosition, error: String, retryAfter: Int64?, isBusy: Bool = false, isGone: Bool = false, now: Int64, random: Double
  ) -> Refusal {
    guard inFlight.remove(position) != nil, var item = items[position] else { return .retried }
    failuresInARow += 1
    let since = health.failingSince ?? now
    health.failingSince = since
    health.lastError = error
    if isGone {
      ending = .gone
      return .ended(.gone)
    }
    if now - since >= rules.disableAfter {
      ending = .failing
      return .ended(.failing)
    }
    if isSuspect {
      window = 2 * rules.maxConcurrent
      pausedUntil = max(pausedUntil, now + rules.pauses.wait(after: failuresInARow - rules.suspectAfter + 1, random: random))
    }
    let asked = retryAfter.map { now + min($0, rules.retryAfterCap) } ?? 0
    if asked > 0, isBusy {
      askedUntil = max(askedUntil, asked)
      health.retryAt = askedUntil
    }
    var attempts = item.attempts ?? Attempts(count: 0, first: now)
    attempts.count += 1
    if now - attempts.first >= rules.retryFor, let success = health.lastSuccess, success >= attempts.first {
      settle(position)
      return .givenUp
    }
    item.attempts = attempts
    // While the endpoint is failing, its pauses decide and not the attempts of single events.
    let wait = isSuspect ? max(pausedUntil, askedUntil) : now + rules.retries.wait(after: attempts.count, random: random)
    item.asked = asked
    item.due = max(wait, asked)
    items[position] = item
    retries.insert(item.due, position)
    // The later events of its subject wait for the same time.
    if item.due - now > rules.unloadAfter { unload([position] + queues.following(position)) }
    return .retried
  }

  /// Reports that an event does not exist in the endpoint's form, so that it was not posted. `settles`: true if that settles it.
  mutating func skipped(_ position: EventPosition, settles: Bool) {
    guard inFlight.remove(position) != nil, settles else { return }
    settle(position)
  }

  /// The failed attempts of an event.
  func attempts(_ position: EventPosition) -> Attempts? { items[position]?.attempts }

  // MARK: Helpers

  private mutating func settle(_ position: EventPosition) {
    unload([position])
    items.removeValue(forKey: position)
    if rules.isOrdered { ready += queues.remove(position) }
  }

  /// Makes events that failed during the endpoint's failure due now, or when the endpoint asked for them.
  private mutating func bringRetriesForward(since: Int64, now: Int64) {
    for (position, item) in items {
      let due = max(now, item.asked)
      guard let attempts = item.attempts, attempts.first >= since, item.due > due, !inFlight.contains(position) else { continue }
      items[position]?.due = due
      retries.insert(due, position)
    }
  }

  /// Removes the bytes of events from memory.
  private mutating func unload(_ positions: [EventPosition]) {
    for position in positions {
      guard let event = items[position]?.event else { continue }
      items[position]?.event = nil
      loaded -= 1
      bytes -= event.size
    }
  }
}
