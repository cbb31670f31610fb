import AttributionQueue
import HTTPClient
import ServiceRuntime
import Synchronization
import Traces

/// One endpoint while an instance pushes to it: passes events from the feed to the posting loop, and outcomes back to the feed.
///
/// Outcomes arrive on the loop's thread, which posts the next event at once. Everything that calls Redis is done by ``run()``.
final class PushEndpoint: Sendable {
  struct LockedState {
    var state: EndpointState
    /// The progress, by shard.
    var progress: [ShardProgress]
    /// Shards with unread events before the tail. This endpoint reads them itself.
    var behind: Set<Int> = []
    /// The share of wanted events among those read last, above 0 up to 1.
    var wantedShare = 1.0
    /// All events published before this time were offered to this endpoint, in shards that are not behind; milliseconds since 1970.
    var offered: Int64 = .min
    /// Shards whose progress must be stored.
    var changed: Set<Int> = []
    /// Shards whose unsettled events are stored in Redis.
    var withUnsettled: Set<Int>
    var toLoad: [EventPosition] = []
    /// Events that do not exist in the endpoint's form.
    var withoutForm: [PushedEvent] = []
    var givenUp: [(event: PushedEvent, attempts: Int, error: String)] = []
    /// The time of the next action if nothing happens before; milliseconds since 1970.
    var due: Int64?
    /// True while nothing is posted, because the instance may not own the endpoint any more.
    var isResting = false
    var isStopping = false
    var noted = EndpointHealth()
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
    withUnsettled: Set<Int>
  ) {
    self.subscription = subscription
    self.settings = settings
    self.parts = parts
    signer = WebhookSigner(settings.secrets.map(\.secret))
    timeout = parts.settings.timeout
    server = URLServer(settings.url)
    var locked = LockedState(
      state: EndpointState(rules: parts.rules(of: settings), health: health, now: WallClock.now()), progress: progress,
      withUnsettled: withUnsettled)
    locked.behind = Set(0..<Shard.count)
    locked.noted = health
    self.locked = Mutex(locked)
  }

  /// True if the endpoint accepts nothing at present.
  var isSuspect: Bool { locked.withLock { $0.state.isSuspect } }

  /// Stops reading and posting; ``run()`` ends when the posts in flight are settled.
  func stop() {
    locked.withLock { $0.isStopping = true }
    signal.wake()
  }

  /// Pauses or resumes posting. It pauses while the instance does not know whether it owns the endpoint.
  func rest(_ isResting: Bool) {
    let changed = locked.withLock { locked in
      defer { locked.isResting = isResting }
      return locked.isResting != isResting
    }
    if changed, !isResting { pump() }
  }

  func wants(_ event: PushedEvent) -> Bool {
    !subscription.hasFilter
      || subscription.filter.wants(event.attributes, type: event.type, types: subscription.types, names: parts.names)
  }

  // MARK: What is read

  /// Takes new events of the shards' tails.
  func offer(_ findings: [FeedTailReader.Finding]) { offer(findings, until: parts.tails.time) }

  /// - Parameter time: all events published before this time are among `findings` or were offered before.
  func offer(_ findings: [FeedTailReader.Finding], until time: Int64) {
    let changed = locked.withLock { locked in
      var changed = false
      for finding in findings {
        let shard = finding.shard.index
        guard locked.progress[shard].cursor < finding.last else { continue }
        guard locked.progress[shard].cursor >= finding.before, !locked.behind.contains(shard) else {
          locked.behind.insert(shard)
          changed = true
          continue
        }
        if take(finding.events, shard, &locked) { changed = true }
      }
      locked.offered = time
      advance(&locked)
      return changed || settings.isOrdered
    }
    if changed { pump() }
    if locked.withLock({ !$0.behind.isEmpty }) { signal.wake() }
  }

  /// Adds events of a shard while there is room. Returns true if any was added.
  ///
  /// - Parameter force: true to add them even without room.
  func take(_ events: [PushedEvent], _ shard: Int, force: Bool = false, _ locked: inout LockedState) -> Bool {
    var taken = false
    for event in events where event.position.feedPosition > locked.progress[shard].cursor {
      let isWanted = wants(event)
      if isWanted {
        guard force || locked.state.room > 0 else {
          locked.behind.insert(shard)
          break
        }
        locked.state.add(event)
        taken = true
      }
      locked.progress[shard].read(event.position.feedPosition, isWanted: isWanted)
    }
    return taken
  }

  /// If order is kept, moves the watermark to the time up to which all events are known. Events that were found but not offered yet are not
  /// known.
  func advance(_ locked: inout LockedState) {
    guard settings.isOrdered, locked.offered > .min else { return }
    var known = locked.offered
    for shard in locked.behind { known = min(known, locked.progress[shard].cursor.milliseconds) }
    locked.state.advance(to: known - 1)
  }

  // MARK: What is posted

  /// Posts everything that may be posted now.
  func pump() {
    let (posts, mustWake) = locked.withLock { toBePosted(&$0) }
    for event in posts { post(event, on: nil) }
    if mustWake { signal.wake() }
  }

  /// The events that may be posted now, and whether ``run()`` must be woken.
  private func toBePosted(_ locked: inout LockedState) -> (posts: [PushedEvent], mustWake: Bool) {
    guard !locked.isResting, !locked.isStopping else { return ([], false) }
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
    // There is room for unread events of the feed.
    if !locked.behind.isEmpty, locked.state.isWorthReading || settings.isOrdered && locked.state.isStarved { mustWake = true }
    return (posts, mustWake)
  }

  private func post(_ event: PushedEvent, on thread: Int?) {
    let now = WallClock.now()
    let span = span(event)
    guard let message = PushMessage(event, form: settings.form, signer: signer, timestamp: now / 1000, traceparent: span?.traceparent)
    else {
      locked.withLock { $0.withoutForm.append(event) }
      return signal.wake()
    }
    let started = ContinuousClock.now
    let request = PostRequest(
      url: settings.url, headers: message.headers, body: message.body, timeout: timeout, allowsHTTP: parts.settings.allowsHTTP)
    parts.poster.post(request, on: thread) { outcome, thread in
      self.finished(event, outcome, seconds: started.duration(to: .now) / .seconds(1), span, on: thread)
    }
  }

  /// The span of one attempt to post an event, below the work that made the event.
  private func span(_ event: PushedEvent) -> Span? {
    guard parts.tracer.isRecording, let parent = event.traceContext, parent.isSampled else { return nil }
    return parts.tracer.span(
      "POST", .client, below: parent,
      [
        SpanAttribute("http.request.method", "POST"), SpanAttribute("server.address", server?.host ?? ""),
        SpanAttribute("server.port", .integer(Int64(server?.port ?? 0))), SpanAttribute("cloudevents.event_type", event.type),
        SpanAttribute("messaging.destination.subscription.name", subscription.name),
      ])
  }

  private func finished(_ event: PushedEvent, _ outcome: PostOutcome, seconds: Double, _ span: Span?, on thread: Int) {
    let now = WallClock.now()
    if let span {
      if case .answered(let status, _) = outcome { span.set(SpanAttribute("http.response.status_code", .integer(Int64(status)))) }
      span.end(error: outcome.kind == .taken ? nil : outcome.kind.rawValue)
    }
    parts.metrics.requested(outcome.kind, seconds: seconds, span)
    if outcome.kind == .taken { parts.metrics.taken(afterSeconds: Double(now - event.position.feedPosition.milliseconds) / 1000, span) }
    let (posts, mustWake) = locked.withLock { locked in
      let isFirstChange = locked.changed.isEmpty
      record(outcome, of: event, now, &locked)
      let (posts, mustWake) = toBePosted(&locked)
      return (posts, mustWake || isFirstChange)
    }
    // The first post uses the thread of the one that ended; the others are distributed, because otherwise the busiest thread would get all
    // of them.
    for (number, event) in posts.enumerated() { post(event, on: number == 0 ? thread : nil) }
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
      parts.metrics.droppedEvent()
      locked.givenUp.append((event, attempts, outcome.text))
      // Progress is stored after the event's failure was published.
    } else {
      locked.changed.insert(event.position.shard.index)
    }
  }

  func settle(_ position: EventPosition, _ locked: inout LockedState) {
    locked.progress[position.shard.index].settle(position.feedPosition)
    locked.changed.insert(position.shard.index)
  }
}
