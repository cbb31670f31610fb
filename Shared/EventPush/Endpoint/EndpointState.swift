import AttributionQueue

/// The state machine that decides what is posted to one endpoint, and when. It has no clock, socket or store: the caller reports what happened and
/// asks for the next action.
///
/// A refused event is retried by its own schedule. When no event is accepted any more, the endpoint counts as failing: one event at a time is posted
/// after pauses that grow to a minute, so that a recovered server is noticed soon and a dead one costs little. After the recovery, events that
/// failed meanwhile are due at once.
struct EndpointState: Sendable {
  /// What is to be done next.
  enum Next {
    /// Post this one.
    case post(PushedEvent)
    /// Fetch these events first, and hand them to ``loaded(_:)``.
    case load([EventPosition])
    /// Nothing before this time, unless something happens.
    case wait(until: Int64?)
  }

  /// What is to be said of an event that was tried before.
  struct Attempts: Sendable, Hashable {
    var count: Int
    /// When it failed first.
    var first: Int64
  }

  private struct Item {
    /// Nil when it has to be fetched.
    var event: PushedEvent?
    var attempts: Attempts?
    var due: Int64 = 0
    /// The endpoint asked that this one be not posted before.
    var asked: Int64 = 0
    var isLoading = false
  }

  let rules: EndpointRules
  private(set) var health: EndpointHealth
  /// Why it is to be ended: `gone`, or what was wrong for too long.
  private(set) var ending: Ending?
  private var items: [EventPosition: Item] = [:]
  private var lines = SubjectQueues()
  /// May be posted, in this order, from `nextReady` on.
  private var ready: [EventPosition] = []
  private var nextReady = 0
  private var retries = MinimumHeap<Int64, EventPosition>()
  private var toLoad: [EventPosition] = []
  private var inFlight: Set<EventPosition> = []
  private var rate: SendRate
  private var failuresInARow = 0
  /// How long it is left alone while it is at fault.
  private var pausedUntil: Int64 = 0
  /// How long it asked to be left alone. What it takes of posts that were under way already changes nothing of that.
  private var askedUntil: Int64
  private var bytes = 0
  private var loaded = 0
  /// How many events are kept: as few as are posted at once while nothing is known of the endpoint, more with each one that it takes.
  private var window: Int

  /// Why an endpoint is posted to no more.
  enum Ending: Sendable, Hashable {
    /// It answered 410.
    case gone
    /// It has failed for too long.
    case failing
  }

  init(rules: EndpointRules, health: EndpointHealth = EndpointHealth(), now: Int64) {
    self.rules = rules
    self.health = health
    rate = SendRate(perSecond: rules.maxPerSecond, now: now)
    window = 2 * rules.maxConcurrent
    askedUntil = health.retryAt ?? 0
    // One that failed before is not asked with all at once.
    if health.failingSince != nil { failuresInARow = rules.suspectAfter }
  }

  /// Whether nothing has been taken for so many requests that the endpoint is at fault.
  var isSuspect: Bool { failuresInARow >= rules.suspectAfter }
  /// Posts under way.
  var underWay: Int { inFlight.count }
  /// Events that are not settled.
  var count: Int { items.count }

  /// How many events there is room for.
  var room: Int {
    guard ending == nil, items.count < rules.mostWaiting, bytes < rules.windowBytes else { return 0 }
    return max(0, mostLoaded - loaded)
  }

  /// Whether there is room for so many that reading them is worth a question, or nothing else is there to post.
  var isWorthReading: Bool {
    let room = room
    return room > 0 && (4 * room >= mostLoaded || nextReady == ready.count)
  }

  private var mostLoaded: Int { isSuspect ? 2 * rules.maxConcurrent : window }

  /// Whether there is nothing to post although events are known: their turn has not come, or they wait for another try.
  var isStarved: Bool { ending == nil && nextReady == ready.count && inFlight.isEmpty && toLoad.isEmpty && items.count < rules.mostWaiting }

  // MARK: Events

  /// Takes an event in. One that was tried before is due at once.
  mutating func add(_ event: PushedEvent, attempts: Attempts? = nil) {
    guard items[event.place] == nil else { return }
    items[event.place] = Item(event: event, attempts: attempts)
    loaded += 1
    bytes += event.size
    if rules.isOrdered {
      lines.add(event.place, subject: CloudEventParts.subject(event.json))
    } else {
      ready.append(event.place)
    }
  }

  /// All events up to this time are known.
  mutating func advance(to time: Int64) {
    guard rules.isOrdered else { return }
    ready += lines.advance(to: time)
  }

  /// Hands over events that were to be fetched; those that are nil exist no more, and are settled by that.
  mutating func loaded(_ events: [(place: EventPosition, event: PushedEvent?)]) -> [EventPosition] {
    var gone: [EventPosition] = []
    for (place, event) in events {
      guard var item = items[place], item.isLoading else { continue }
      item.isLoading = false
      item.event = event
      items[place] = item
      if let event {
        loaded += 1
        bytes += event.size
        ready.append(place)
      } else {
        settle(place)
        gone.append(place)
      }
    }
    return gone
  }

  /// What could not be fetched now is fetched later.
  mutating func notLoaded(_ places: [EventPosition]) {
    for place in places { items[place]?.isLoading = false }
    toLoad += places.filter { items[$0] != nil }
  }

  /// What is to be done now.
  mutating func next(now: Int64) -> Next {
    guard ending == nil else { return .wait(until: nil) }
    while let (due, place) = retries.first, due <= now {
      _ = retries.popFirst()
      guard let item = items[place], !inFlight.contains(place), item.due == due else { continue }
      if item.event == nil { toLoad.append(place) } else { ready.append(place) }
    }
    if !toLoad.isEmpty {
      let places = toLoad
      toLoad.removeAll()
      for place in places { items[place]?.isLoading = true }
      return .load(places)
    }
    let retry = retries.first?.key
    guard nextReady < ready.count else { return .wait(until: retry) }
    guard inFlight.count < (isSuspect ? 1 : rules.maxConcurrent) else { return .wait(until: nil) }
    let pause = max(pausedUntil, askedUntil)
    guard pause <= now else { return .wait(until: pause) }
    let place = ready[nextReady]
    guard let event = items[place]?.event else {
      nextReady += 1
      if items[place] != nil { toLoad.append(place) }
      return next(now: now)
    }
    if let later = rate.take(now: now) { return .wait(until: min(later, retry ?? later)) }
    nextReady += 1
    if nextReady > 64, nextReady * 2 > ready.count {
      ready.removeFirst(nextReady)
      nextReady = 0
    }
    inFlight.insert(place)
    return .post(event)
  }

  // MARK: Outcomes

  /// The endpoint took an event: it is settled. Answers whether the endpoint was suspect before.
  @discardableResult
  mutating func succeeded(_ place: EventPosition, now: Int64) -> Bool {
    guard inFlight.remove(place) != nil else { return false }
    let wasSuspect = isSuspect
    if wasSuspect { hurry(since: health.failingSince ?? now, now: now) }
    failuresInARow = 0
    pausedUntil = 0
    health.lastSuccess = now
    health.failingSince = nil
    if askedUntil <= now { health.retryAt = nil }
    window = min(rules.window, window + 1)
    settle(place)
    return wasSuspect
  }

  /// What became of an event that was not taken.
  enum Refusal: Sendable, Hashable {
    /// It is tried again.
    case retried
    /// It was tried for so long, while others were taken, that it is given up; it is settled by that.
    case givenUp
    /// The endpoint is posted to no more.
    case ended(Ending)
  }

  /// The endpoint did not take an event.
  ///
  /// - Parameters:
  ///   - retryAfter: what it asked for, milliseconds.
  ///   - isBusy: whether it says that it is too busy for any event.
  ///   - isGone: whether it says that it wants no more of them.
  ///   - random: 0 to 1.
  mutating func failed(
    _ place: EventPosition, error: String, retryAfter: Int64?, isBusy: Bool = false, isGone: Bool = false, now: Int64, random: Double
  ) -> Refusal {
    guard inFlight.remove(place) != nil, var item = items[place] else { return .retried }
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
      settle(place)
      return .givenUp
    }
    item.attempts = attempts
    // While the endpoint is at fault its pauses count, and not what was tried in between.
    let wait = isSuspect ? max(pausedUntil, askedUntil) : now + rules.retries.wait(after: attempts.count, random: random)
    item.asked = asked
    item.due = max(wait, asked)
    items[place] = item
    retries.insert(item.due, place)
    // Those behind it in its subject's line wait as long.
    if item.due - now > rules.unloadAfter { unload([place] + lines.behind(place)) }
    return .retried
  }

  /// An event cannot be had in the form that the endpoint asks for: no request is made of it, and it may be settled by that.
  mutating func skipped(_ place: EventPosition, settles: Bool) {
    guard inFlight.remove(place) != nil, settles else { return }
    settle(place)
  }

  /// Whether an event was tried before, and how often.
  func attempts(_ place: EventPosition) -> Attempts? { items[place]?.attempts }

  // MARK: Pieces

  private mutating func settle(_ place: EventPosition) {
    unload([place])
    items.removeValue(forKey: place)
    if rules.isOrdered { ready += lines.remove(place) }
  }

  /// What failed while the endpoint was at fault is due now, or when the endpoint asked for it.
  private mutating func hurry(since: Int64, now: Int64) {
    for (place, item) in items {
      let due = max(now, item.asked)
      guard let attempts = item.attempts, attempts.first >= since, item.due > due, !inFlight.contains(place) else { continue }
      items[place]?.due = due
      retries.insert(due, place)
    }
  }

  /// Keeps events without their bytes.
  private mutating func unload(_ places: [EventPosition]) {
    for place in places {
      guard let event = items[place]?.event else { continue }
      items[place]?.event = nil
      loaded -= 1
      bytes -= event.size
    }
  }
}
