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
    /// By shard.
    var progress: [ShardProgress]
    /// Shards whose end is not reached: they are read by this endpoint alone.
    var behind: Set<Int> = []
    /// Of the events that were read last, how many were wanted: from above 0 to 1.
    var wantedShare = 1.0
    /// All events that were published before this time were offered to this endpoint, where it is not behind; milliseconds since 1970.
    var offered: Int64 = .min
    /// Shards of which something is to be noted.
    var changed: Set<Int> = []
    /// Shards of which unsettled events are kept in Redis.
    var withUnsettled: Set<Int>
    var toLoad: [EventPosition] = []
    /// Events that cannot be had in the form that is asked for.
    var withoutForm: [PushedEvent] = []
    var givenUp: [(event: PushedEvent, attempts: Int, error: String)] = []
    /// When there is something to do, if nothing happens before; milliseconds since 1970.
    var due: Int64?
    /// Posting rests: the instance may not be the endpoint's any more.
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
  /// Whom spans say that was asked; no more of the URL, which may hold a secret.
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

  /// Whether nothing is taken at present.
  var isSuspect: Bool { locked.withLock { $0.state.isSuspect } }

  /// Takes no more events and posts none; ``run()`` ends when what is under way is settled.
  func stop() {
    locked.withLock { $0.isStopping = true }
    signal.wake()
  }

  /// Whether it may post: it may not while the instance does not know whether the endpoint is its own.
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

  /// Takes what was found at the end of shards.
  func offer(_ findings: [FeedTailReader.Finding]) { offer(findings, until: parts.tails.time) }

  /// - Parameter time: all events that were published before it are among these, or were among those offered before.
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

  /// Takes events of a shard in, as far as there is room; answers whether any was.
  ///
  /// - Parameter force: whether they are taken although there is no room.
  func take(_ events: [PushedEvent], _ shard: Int, force: Bool = false, _ locked: inout LockedState) -> Bool {
    var taken = false
    for event in events where event.place.place > locked.progress[shard].cursor {
      let isWanted = wants(event)
      if isWanted {
        guard force || locked.state.room > 0 else {
          locked.behind.insert(shard)
          break
        }
        locked.state.add(event)
        taken = true
      }
      locked.progress[shard].read(event.place.place, isWanted: isWanted)
    }
    return taken
  }

  /// Says up to when all events are known, where order is kept: what was found and not offered yet is not.
  func advance(_ locked: inout LockedState) {
    guard settings.isOrdered, locked.offered > .min else { return }
    var known = locked.offered
    for shard in locked.behind { known = min(known, locked.progress[shard].cursor.milliseconds) }
    locked.state.advance(to: known - 1)
  }

  // MARK: What is posted

  /// Posts as much as may be posted now.
  func pump() {
    let (posts, mustWake) = locked.withLock { toBePosted(&$0) }
    for event in posts { post(event, on: nil) }
    if mustWake { signal.wake() }
  }

  /// What may be posted now, and whether ``run()`` has something to do.
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
      case .load(let places):
        locked.toLoad += places
        mustWake = true
        continue
      case .wait(let until):
        if let until, until < locked.due ?? .max { mustWake = true }
        locked.due = until
      }
      break
    }
    // There is room for what waits in the feed.
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
    if outcome.kind == .taken { parts.metrics.taken(afterSeconds: Double(now - event.place.place.milliseconds) / 1000, span) }
    let (posts, mustWake) = locked.withLock { locked in
      let isFirstChange = locked.changed.isEmpty
      record(outcome, of: event, now, &locked)
      let (posts, mustWake) = toBePosted(&locked)
      return (posts, mustWake || isFirstChange)
    }
    // One follows the one that ended; more than that are shared out, or the busiest thread would draw all of them.
    for (number, event) in posts.enumerated() { post(event, on: number == 0 ? thread : nil) }
    if mustWake { signal.wake() }
  }

  private func record(_ outcome: PostOutcome, of event: PushedEvent, _ now: Int64, _ locked: inout LockedState) {
    if outcome.kind == .taken {
      locked.state.succeeded(event.place, now: now)
      return settle(event.place, &locked)
    }
    let retryAfter = outcome.retryAfter(now: now / 1000)?.milliseconds
    let status = if case .answered(let status, _) = outcome { status } else { 0 }
    let attempts = (locked.state.attempts(event.place)?.count ?? 0) + 1
    let refusal = locked.state.failed(
      event.place, error: outcome.text, retryAfter: retryAfter, isBusy: status == 429 || status == 503, isGone: status == 410, now: now,
      random: .random(in: 0...1))
    if refusal == .givenUp {
      parts.metrics.gaveUp()
      locked.givenUp.append((event, attempts, outcome.text))
      // It is noted when the feed was told.
    } else {
      locked.changed.insert(event.place.shard.index)
    }
  }

  func settle(_ place: EventPosition, _ locked: inout LockedState) {
    locked.progress[place.shard.index].settle(place.place)
    locked.changed.insert(place.shard.index)
  }
}
