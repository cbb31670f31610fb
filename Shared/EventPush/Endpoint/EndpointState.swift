import AttributionQueue

/// The state machine that decides which event is posted to one endpoint, and when. It has no clock, socket or store: ``PushEndpoint``
/// passes in the time (milliseconds since 1970), reports what happened, and carries out the next action.
///
/// An event enters with ``add(_:attempts:)``. ``next(now:)`` returns it when it may be posted, and ``succeeded(_:now:)`` or
/// ``failed(_:error:retryAfter:isBusy:isGone:now:random:)`` reports the outcome. An event is settled when the endpoint has accepted it,
/// when it is given up, or when it does not exist any more.
///
/// A refused event is retried by its own schedule. After three failures in a row the endpoint is suspect: one event at a time is posted,
/// after pauses that grow to a minute, so that a recovered server is noticed soon and a dead one costs little. When an event is accepted
/// again, the events that failed meanwhile are due at once.
struct EndpointState: Sendable {
  /// The next action.
  enum Next {
    /// Post this event.
    case post(PushedEvent)
    /// Fetch these events from the feed, and pass them to ``loaded(_:)``.
    case load([EventPosition])
    /// There is nothing to do before this time, unless the caller reports something; nil if only a report can change that.
    case wait(until: Int64?)
  }

  /// The failed attempts of an event.
  struct Attempts: Sendable, Hashable {
    var count: Int
    /// The time of the first failure.
    var first: Int64
  }

  /// An unsettled event.
  private struct Item {
    /// Nil if the event's bytes are not in memory.
    var event: PushedEvent?
    /// Nil before the first failure.
    var attempts: Attempts?
    /// The time of the next attempt after a failure.
    var due: Int64 = 0
    /// The end of the wait that the endpoint asked for with `Retry-After` when it refused this event.
    var retryAfterEnd: Int64 = 0
    /// True while the event is being fetched from the feed.
    var isLoading = false
  }

  let rules: EndpointRules
  private(set) var health: EndpointHealth
  /// The reason why posting ends; nil as long as events are posted.
  private(set) var ending: Ending?
  /// The unsettled events.
  private var items: [EventPosition: Item] = [:]
  /// The order of the unsettled events, if order is kept.
  private var queues = SubjectQueues()
  /// Events that may be posted, in this order, from `nextReady` on.
  private var ready: [EventPosition] = []
  private var nextReady = 0
  /// Events that wait for a retry, by due time. An entry whose time is not that of the event's item is outdated.
  private var retries = MinimumHeap<Int64, EventPosition>()
  /// Due events whose bytes must be fetched.
  private var toLoad: [EventPosition] = []
  private var inFlight: Set<EventPosition> = []
  private var rate: SendRate
  private var failuresInARow = 0
  /// The end of the current pause between requests to a suspect endpoint.
  private var pauseEnd: Int64 = 0
  /// The end of the pause that a busy endpoint asked for with `Retry-After`. Successes of posts that were already in flight do not shorten
  /// it.
  private var retryAfterEnd: Int64
  /// The number of events whose bytes are in memory, and their size.
  private var loadedCount = 0
  private var loadedBytes = 0
  /// The number of events to keep in memory. It starts at twice the number of concurrent posts, grows with each accepted event, and starts
  /// again when the endpoint becomes suspect.
  private var window: Int

  /// The reason why no more events are posted to an endpoint.
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
    retryAfterEnd = health.retryAt ?? 0
    // An endpoint that was failing is suspect from the start, so that it gets one event first.
    if health.failingSince != nil { failuresInARow = rules.suspectAfter }
  }

  /// True after several failures in a row: the cause is the endpoint and not a single event.
  var isSuspect: Bool { failuresInARow >= rules.suspectAfter }
  /// The number of posts in flight.
  var inFlightCount: Int { inFlight.count }
  /// The number of unsettled events.
  var count: Int { items.count }

  /// The number of events that may be added.
  var room: Int {
    guard ending == nil, items.count < rules.maxUnsettled, loadedBytes < rules.windowBytes else { return 0 }
    return max(0, maxLoaded - loadedCount)
  }

  /// True if a quarter of the window is free, so that a read brings enough events to be worthwhile, or if nothing else can be posted.
  var isWorthReading: Bool {
    let room = room
    return room > 0 && (4 * room >= maxLoaded || nextReady == ready.count)
  }

  private var maxLoaded: Int { isSuspect ? 2 * rules.maxConcurrent : window }

  /// True if no event can be posted, because all known events wait for the watermark or for a retry. If order is kept, reading more events
  /// can then be the only way to move the watermark.
  var isStarved: Bool {
    ending == nil && nextReady == ready.count && inFlight.isEmpty && toLoad.isEmpty && items.count < rules.maxUnsettled
  }

  // MARK: Events

  /// Adds an event.
  ///
  /// - Parameter attempts: the failed attempts of another instance. The event is nevertheless due at once.
  mutating func add(_ event: PushedEvent, attempts: Attempts? = nil) {
    guard items[event.position] == nil else { return }
    items[event.position] = Item(event: event, attempts: attempts)
    loadedCount += 1
    loadedBytes += event.size
    if rules.isOrdered {
      queues.add(event.position, subject: CloudEventParts.subject(event.json))
    } else {
      ready.append(event.position)
    }
  }

  /// Reports that all events that were published up to this time have been added, milliseconds since 1970.
  mutating func advance(to time: Int64) {
    guard rules.isOrdered else { return }
    ready += queues.advance(to: time)
  }

  /// Reports the result of ``Next/load(_:)``. Events that are nil do not exist any more: they are settled, and their positions are
  /// returned.
  mutating func loaded(_ events: [(position: EventPosition, event: PushedEvent?)]) -> [EventPosition] {
    var gone: [EventPosition] = []
    for (position, event) in events {
      guard var item = items[position], item.isLoading else { continue }
      item.isLoading = false
      item.event = event
      items[position] = item
      if let event {
        loadedCount += 1
        loadedBytes += event.size
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
    let resumeAt = max(pauseEnd, retryAfterEnd)
    guard resumeAt <= now else { return .wait(until: resumeAt) }
    let position = ready[nextReady]
    guard let event = items[position]?.event else {
      nextReady += 1
      if items[position] != nil { toLoad.append(position) }
      return next(now: now)
    }
    if let later = rate.take(now: now) { return .wait(until: min(later, retry ?? later)) }
    nextReady += 1
    // Posted events are removed in large steps, because each removal moves the rest of the array.
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
    pauseEnd = 0
    health.lastSuccess = now
    health.failingSince = nil
    if retryAfterEnd <= now { health.retryAt = nil }
    window = min(rules.window, window + 1)
    settle(position)
    return wasSuspect
  }

  /// The consequence of a failed post.
  enum Refusal: Sendable, Hashable {
    /// The event will be retried.
    case retried
    /// The event is given up and settled, because it was retried for too long while others were accepted.
    case givenUp
    /// No more events are posted to the endpoint.
    case ended(Ending)
  }

  /// Reports that the endpoint did not accept an event.
  ///
  /// - Parameters:
  ///   - retryAfter: the `Retry-After` of the answer, milliseconds.
  ///   - isBusy: true if the answer says that the endpoint is too busy (429, 503). `Retry-After` then applies to all events.
  ///   - isGone: true if the answer says that the endpoint accepts no more events (410).
  ///   - random: the random part of the wait, 0 to 1.
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
      pauseEnd = max(pauseEnd, now + rules.pauses.wait(after: failuresInARow - rules.suspectAfter + 1, random: random))
    }
    let retryAfterEnd = retryAfter.map { now + min($0, rules.retryAfterCap) } ?? 0
    if retryAfterEnd > 0, isBusy {
      self.retryAfterEnd = max(self.retryAfterEnd, retryAfterEnd)
      health.retryAt = self.retryAfterEnd
    }
    var attempts = item.attempts ?? Attempts(count: 0, first: now)
    attempts.count += 1
    if now - attempts.first >= rules.retryFor, let success = health.lastSuccess, success >= attempts.first {
      settle(position)
      return .givenUp
    }
    item.attempts = attempts
    // While the endpoint is suspect, its pauses decide when an event is posted, not the number of its attempts.
    let due = isSuspect ? max(pauseEnd, self.retryAfterEnd) : now + rules.retries.wait(after: attempts.count, random: random)
    item.retryAfterEnd = retryAfterEnd
    item.due = max(due, retryAfterEnd)
    items[position] = item
    retries.insert(item.due, position)
    // The later events of the subject wait at least as long.
    if item.due - now > rules.unloadAfter { unload([position] + queues.following(position)) }
    return .retried
  }

  /// Reports that an event was not posted, because no request can be made of it (``PushMessage``).
  ///
  /// - Parameter settles: true if the event is settled by that.
  mutating func skipped(_ position: EventPosition, settles: Bool) {
    guard inFlight.remove(position) != nil, settles else { return }
    settle(position)
  }

  /// The failed attempts of an event; nil if there were none.
  func attempts(_ position: EventPosition) -> Attempts? { items[position]?.attempts }

  // MARK: Helpers

  private mutating func settle(_ position: EventPosition) {
    unload([position])
    items.removeValue(forKey: position)
    if rules.isOrdered { ready += queues.remove(position) }
  }

  /// Makes the events that failed since a time due now, or at the end of the wait that the endpoint asked for.
  private mutating func bringRetriesForward(since: Int64, now: Int64) {
    for (position, item) in items {
      let due = max(now, item.retryAfterEnd)
      guard let attempts = item.attempts, attempts.first >= since, item.due > due, !inFlight.contains(position) else { continue }
      items[position]?.due = due
      retries.insert(due, position)
    }
  }

  /// Removes the bytes of events from memory. The events stay unsettled.
  private mutating func unload(_ positions: [EventPosition]) {
    for position in positions {
      guard let event = items[position]?.event else { continue }
      items[position]?.event = nil
      loadedCount -= 1
      loadedBytes -= event.size
    }
  }
}
