import AttributionQueue
import HTTPClient
import ServiceRuntime
import Synchronization
import Traces

/// One endpoint while an instance pushes to it: passes events from the feed to the posting loop, and outcomes back to the feed.
///
/// ``open(_:_:_:)`` creates it from the stored progress, and ``run()`` runs it until ``stop()``. Events come from ``offer(_:)`` as long as
/// the endpoint has room for them; otherwise it reads them later by itself (``catchUp()``). ``EndpointState`` decides which event is posted
/// next.
///
/// Outcomes arrive on a thread of ``PostLoops``, which posts the next event at once. Everything that calls Redis is done by ``run()``
/// (`PushEndpoint+Run.swift`); the other functions wake it with ``signal``.
final class PushEndpoint: Sendable {
  struct LockedState {
    var state: EndpointState
    /// The progress, by shard.
    var progress: [ShardProgress]
    /// Shards with unread events before the end of the last poll. New events of these shards are not taken from ``offer(_:)``.
    var unreadShards: Set<Int> = []
    /// The share of wanted events among the events that were read last, above 0 and at most 1.
    var wantedShare = 1.0
    /// All events published before this time were offered to this endpoint, apart from those of ``unreadShards``; milliseconds since 1970.
    var offeredUntil: Int64 = .min
    /// Shards whose progress must be stored.
    var changedShards: Set<Int> = []
    /// Shards whose unsettled events are stored in Redis.
    var shardsWithUnsettled: Set<Int>
    /// Events that must be fetched from the feed again.
    var toLoad: [EventPosition] = []
    /// Events of which no request can be made: they do not exist in the endpoint's form, or cannot be parsed.
    var unpostable: [PushedEvent] = []
    /// Events that were given up and whose notice (``PushNotice``) is not published yet.
    var givenUp: [(event: PushedEvent, attempts: Int, error: String)] = []
    /// The time of the next action if nothing happens before; milliseconds since 1970.
    var due: Int64?
    /// True while nothing is posted, because the instance may not own the endpoint any more.
    var isPaused = false
    var isStopping = false
    /// The health that was stored last.
    var storedHealth = EndpointHealth()
  }

  let subscription: EventSubscription
  let settings: EndpointSettings
  let parts: PushParts
  let locked: Mutex<LockedState>
  let signal = WakeSignal()
  private let signer: WebhookSigner
  private let timeout: Duration
  /// The host and port for spans. The rest of the URL may contain a secret.
  private let server: URLServer?

  init(
    _ subscription: EventSubscription, _ settings: EndpointSettings, _ parts: PushParts, health: EndpointHealth, progress: [ShardProgress],
    shardsWithUnsettled: Set<Int>
  ) {
    self.subscription = subscription
    self.settings = settings
    self.parts = parts
    signer = WebhookSigner(settings.secrets.map(\.secret))
    timeout = parts.settings.timeout
    server = URLServer(settings.url)
    var locked = LockedState(
      state: EndpointState(rules: parts.rules(of: settings), health: health, now: WallClock.now()), progress: progress,
      shardsWithUnsettled: shardsWithUnsettled)
    locked.unreadShards = Set(0..<Shard.count)
    locked.storedHealth = health
    self.locked = Mutex(locked)
  }

  /// True if the last posts all failed, so that only single events are posted.
  var isSuspect: Bool { locked.withLock { $0.state.isSuspect } }

  /// Stops reading and posting. ``run()`` ends when the posts in flight have ended and the progress is stored.
  func stop() {
    locked.withLock { $0.isStopping = true }
    signal.wake()
  }

  /// Pauses or resumes posting. It pauses while the instance does not know whether it owns the endpoint.
  func setPaused(_ isPaused: Bool) {
    let hasChanged = locked.withLock { locked in
      defer { locked.isPaused = isPaused }
      return locked.isPaused != isPaused
    }
    if hasChanged, !isPaused { postReady() }
  }

  /// True if the subscription selects the event.
  func wants(_ event: PushedEvent) -> Bool {
    !subscription.hasFilter
      || subscription.filter.wants(event.attributes, type: event.type, types: subscription.types, names: parts.names)
  }

  // MARK: Reading

  /// Offers the new events of a poll of all shards.
  func offer(_ newEvents: [FeedTailReader.NewEvents]) { offer(newEvents, until: parts.tails.completeUntil) }

  /// - Parameter time: all events published before this time are among `newEvents` or were offered before.
  func offer(_ newEvents: [FeedTailReader.NewEvents], until time: Int64) {
    let mayPost = locked.withLock { locked in
      var hasChanged = false
      for new in newEvents {
        let shard = new.shard.index
        guard locked.progress[shard].cursor < new.end else { continue }
        // Events between the cursor and these are unread, so the shard must be read in order by `catchUp`.
        guard locked.progress[shard].cursor >= new.previousEnd, !locked.unreadShards.contains(shard) else {
          locked.unreadShards.insert(shard)
          hasChanged = true
          continue
        }
        if add(new.events, shard, &locked) { hasChanged = true }
      }
      locked.offeredUntil = time
      advance(&locked)
      return hasChanged || settings.isOrdered
    }
    if mayPost { postReady() }
    if locked.withLock({ !$0.unreadShards.isEmpty }) { signal.wake() }
  }

  /// Adds events of a shard while there is room. Returns true if any was added.
  ///
  /// - Parameter force: true to add them even without room.
  func add(_ events: [PushedEvent], _ shard: Int, force: Bool = false, _ locked: inout LockedState) -> Bool {
    var hasAdded = false
    for event in events where event.position.feedPosition > locked.progress[shard].cursor {
      let isWanted = wants(event)
      if isWanted {
        guard force || locked.state.room > 0 else {
          locked.unreadShards.insert(shard)
          break
        }
        locked.state.add(event)
        hasAdded = true
      }
      locked.progress[shard].read(event.position.feedPosition, isWanted: isWanted)
    }
    return hasAdded
  }

  /// If order is kept, moves the watermark of ``SubjectQueues`` to the time up to which all events were added.
  func advance(_ locked: inout LockedState) {
    guard settings.isOrdered, locked.offeredUntil > .min else { return }
    var completeUntil = locked.offeredUntil
    for shard in locked.unreadShards { completeUntil = min(completeUntil, locked.progress[shard].cursor.milliseconds) }
    // Further events may have this very publication time.
    locked.state.advance(to: completeUntil - 1)
  }

  // MARK: Posting

  /// Posts everything that may be posted now.
  func postReady() {
    let (posts, mustWake) = locked.withLock { toBePosted(&$0) }
    for event in posts { post(event, on: nil) }
    if mustWake { signal.wake() }
  }

  /// The events that may be posted now, and whether ``run()`` must be woken.
  private func toBePosted(_ locked: inout LockedState) -> (posts: [PushedEvent], mustWake: Bool) {
    guard !locked.isPaused, !locked.isStopping else { return ([], false) }
    var posts: [PushedEvent] = []
    var mustWake = false
    let now = WallClock.now()
    while true {
      switch locked.state.next(now: now) {
      case .post(let event):
        posts.append(event)
        continue
      case .load(let positions):
        locked.toLoad += positions
        mustWake = true
        continue
      case .wait(let until):
        if let until, until < locked.due ?? .max { mustWake = true }
        locked.due = until
      }
      break
    }
    // Unread events of the feed can be read now.
    if !locked.unreadShards.isEmpty, locked.state.isWorthReading || settings.isOrdered && locked.state.isStarved { mustWake = true }
    return (posts, mustWake)
  }

  /// - Parameter thread: the thread of ``PostLoops`` that posts; nil to distribute posts among all.
  private func post(_ event: PushedEvent, on thread: Int?) {
    let now = WallClock.now()
    let span = span(event)
    guard let message = PushMessage(event, form: settings.form, signer: signer, timestamp: now / 1000, traceparent: span?.traceparent)
    else {
      locked.withLock { $0.unpostable.append(event) }
      return signal.wake()
    }
    let started = ContinuousClock.now
    let request = PostRequest(
      url: settings.url, headers: message.headers, body: message.body, timeout: timeout, allowsHTTP: parts.settings.allowsHTTP)
    parts.poster.post(request, on: thread) { outcome, thread in
      self.finished(event, outcome, seconds: started.duration(to: .now) / .seconds(1), span, on: thread)
    }
  }

  /// The span of one attempt to post an event, as a child of the span of the work that made the event; nil if the trace is not recorded.
  private func span(_ event: PushedEvent) -> Span? {
    guard parts.tracer.isRecording, let parent = event.traceContext, parent.isSampled else { return nil }
    return parts.tracer.span(
      "POST", .client, childOf: parent,
      [
        SpanAttribute("http.request.method", "POST"), SpanAttribute("server.address", server?.host ?? ""),
        SpanAttribute("server.port", .integer(Int64(server?.port ?? 0))), SpanAttribute("cloudevents.event_type", event.type),
        SpanAttribute("messaging.destination.subscription.name", subscription.name),
      ])
  }

  /// Handles the outcome of a post, and posts the next events.
  private func finished(_ event: PushedEvent, _ outcome: PostOutcome, seconds: Double, _ span: Span?, on thread: Int) {
    let now = WallClock.now()
    if let span {
      if case .answered(let status, _) = outcome { span.set(SpanAttribute("http.response.status_code", .integer(Int64(status)))) }
      span.end(error: outcome.kind == .taken ? nil : outcome.kind.rawValue)
    }
    parts.metrics.requested(outcome.kind, seconds: seconds, span)
    if outcome.kind == .taken { parts.metrics.accepted(afterSeconds: Double(now - event.position.feedPosition.milliseconds) / 1000, span) }
    let (posts, mustWake) = locked.withLock { locked in
      // The first change must wake ``run()``, which stores the progress; later changes are stored with it.
      let isFirstChange = locked.changedShards.isEmpty
      record(outcome, of: event, now, &locked)
      let (posts, mustWake) = toBePosted(&locked)
      return (posts, mustWake || isFirstChange)
    }
    // The first post uses the thread of the post that ended, which keeps the connection busy. The others are distributed, because otherwise
    // the busiest thread would get most of the posts.
    for (index, event) in posts.enumerated() { post(event, on: index == 0 ? thread : nil) }
    if mustWake { signal.wake() }
  }

  private func record(_ outcome: PostOutcome, of event: PushedEvent, _ now: Int64, _ locked: inout LockedState) {
    if outcome.kind == .taken {
      locked.state.succeeded(event.position, now: now)
      return settle(event.position, &locked)
    }
    let retryAfter = outcome.retryAfter(now: now / 1000)?.milliseconds
    let status = if case .answered(let status, _) = outcome { status } else { 0 }
    let attempts = (locked.state.attempts(event.position)?.count ?? 0) + 1
    let refusal = locked.state.failed(
      event.position, error: outcome.text, retryAfter: retryAfter, isBusy: status == 429 || status == 503, isGone: status == 410, now: now,
      random: .random(in: 0...1))
    if refusal == .givenUp {
      parts.metrics.gaveUp()
      // The progress passes the event only after its notice is published (`publishGivenUp`).
      locked.givenUp.append((event, attempts, outcome.text))
    } else {
      locked.changedShards.insert(event.position.shard.index)
    }
  }

  /// Records that an event is settled, so that the stored progress may pass it.
  func settle(_ position: EventPosition, _ locked: inout LockedState) {
    locked.progress[position.shard.index].settle(position.feedPosition)
    locked.changedShards.insert(position.shard.index)
  }
}
