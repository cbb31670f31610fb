public import AttributionQueue
import Cryptography
public import HTTPClient
public import Logging
public import ServiceRuntime
import Synchronization
public import Traces

/// Pushes the events of all subscriptions that have an endpoint. It runs in every verifier that pushes (`Documentation/push.md`).
///
/// The instances share the endpoints: at a time, one instance posts to an endpoint, and its successor continues at the stored progress.
/// Events are posted at least once: after a crash, the successor posts again those that were in flight, and those that the endpoint
/// accepted after the progress was last stored.
///
/// Once a second, the pusher determines its endpoints and opens or stops them (``PushEndpoint``). Meanwhile it reads the tail of the feed
/// (``FeedTailReader``) and offers new events to its endpoints. ``EndpointState`` decides what each endpoint posts, and when.
///
///     let pusher = Pusher(
///       feed: feed, settings: configuration.push, http: http, names: names, metrics: PushMetrics(registry), logger: logger)
///     parts.workers.append(BackgroundWork(stop: { pusher.stop() }, work: { await pusher.run() }))
public final class Pusher: Sendable {
  /// An endpoint to which this instance pushes, and the task that runs it.
  private struct Running {
    let endpoint: PushEndpoint
    let task: Task<Void, Never>
    var hasEnded = false
  }

  /// The interval of the rounds over the subscriptions, each of which sends a heartbeat.
  private static let roundInterval: Duration = .seconds(1)
  /// The pauses between polls of the tail: the pause doubles while there are no new events.
  private static let minPause: Duration = .milliseconds(20)
  private static let maxPause: Duration = .milliseconds(160)
  /// The number of endpoints that are opened concurrently. Opening one takes two commands for each shard.
  private static let maxConcurrentOpens = 4
  /// The number of endpoints that are opened in one round, so that the next heartbeat is not late.
  private static let maxOpensPerRound = 64

  private let parts: PushParts
  private let registry: PusherRegistry
  /// The name of this instance in the registry, which is new at each start.
  private let name = Hex.encode(RandomBytes.make(8))
  /// The endpoints by the names of their subscriptions.
  private let running = Mutex<[String: Running]>([:])
  private let claims = Mutex(EndpointClaims())
  private let isStopping = Atomic(false)
  /// When the last round over the subscriptions ended, with or without an error.
  private let lastRoundAt = Mutex(ContinuousClock.now)
  private let signal = WakeSignal()

  /// - Parameters:
  ///   - http: the configuration of the client that posts; trust anchors and the connect timeout.
  ///   - names: the names of configured apps, for filters.
  public init(
    feed: EventFeed, settings: PushSettings, http: HTTPClientConfiguration, names: AppNames, metrics: PushMetrics, tracer: Tracer = .off,
    logger: Logger
  ) {
    let addresses = EndpointAddresses(allowed: settings.allowedAddresses)
    parts = PushParts(
      feed: feed, poster: PostLoops(count: settings.threads, configuration: http) { addresses.allows($0) },
      tails: FeedTailReader(feed: feed, logger: logger), settings: settings, names: names, metrics: metrics, tracer: tracer,
      logger: logger)
    registry = PusherRegistry(feed: feed, timeout: settings.pusherTimeout)
  }

  /// True if no round over the subscriptions has ended for more than 90 seconds.
  public var isStalled: Bool { lastRoundAt.withLock { $0 }.duration(to: .now) > .seconds(90) }

  /// Makes ``run()`` end.
  public func stop() {
    isStopping.store(true, ordering: .relaxed)
    signal.wake()
  }

  /// Pushes until ``stop()`` is called or the task is cancelled. Then it waits for the posts in flight, stores the progress and releases
  /// its endpoints.
  public func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.readTails() }
      await self.manageEndpoints()
      group.cancelAll()
    }
    await leave()
    parts.poster.shutdown()
  }

  // MARK: Reading

  /// Polls the tails of all shards and offers new events to all endpoints.
  private func readTails() async {
    var pause = Self.minPause
    while !Task.isCancelled {
      guard running.withLock({ !$0.isEmpty }) else {
        do { try await Task.sleep(for: Self.maxPause) } catch { return }
        continue
      }
      var mayHaveMore = false
      do throws(EventFeedError) {
        let (newEvents, more) = try await parts.tails.poll()
        mayHaveMore = more
        pause = newEvents.isEmpty ? min(pause * 2, Self.maxPause) : Self.minPause
        // The endpoints are listed after the poll: one that was opened during the poll may have read up to the end of the previous poll,
        // and would miss these events. Without new events, endpoints that keep order still need the time up to which all events were read.
        let endpoints = running.withLock { $0.values.map(\.endpoint) }
        for endpoint in endpoints where !newEvents.isEmpty || endpoint.settings.isOrdered { endpoint.offer(newEvents) }
      } catch {
        pause = Self.maxPause
      }
      if mayHaveMore { continue }
      do { try await Task.sleep(for: pause) } catch { return }
    }
  }

  // MARK: Endpoints

  /// In each round, lists the subscriptions, sends a heartbeat, and stops and opens endpoints.
  private func manageEndpoints() async {
    // The instances that pushed at the last heartbeat. While none is known, this instance wants no endpoint.
    var pushers: [String] = []
    var lastHeartbeatAt = ContinuousClock.now
    while !isStopping.load(ordering: .relaxed), !Task.isCancelled {
      var isOpening = false
      do throws(EventFeedError) {
        let subscriptions = try await parts.feed.subscriptions()
        var wanted: [String: (EventSubscription, EndpointSettings)] = [:]
        for subscription in subscriptions {
          guard let settings = subscription.push.flatMap({ EndpointSettings(json: $0) }), settings.state == .enabled,
            RendezvousHash.winner(of: subscription.name, among: pushers) == name
          else { continue }
          wanted[subscription.name] = (subscription, settings)
        }
        let running = stopUnwanted(wanted)
        let names = Set(wanted.keys)
        let released = claims.withLock { claims in
          claims.request(names)
          return claims.toRelease(wanted: names, running: running)
        }
        let assignment = try await registry.beat(name, givingBack: released, wanting: Array(names))
        claims.withLock { $0.confirm(assignment.own, running: running) }
        pushers = assignment.pushers
        lastHeartbeatAt = .now
        setPaused(false)
        isOpening = await open(wanted.filter { assignment.own.contains($0.key) })
        let endpoints = self.running.withLock { $0.values.map(\.endpoint) }
        parts.metrics.count(endpoints: endpoints.count, suspect: endpoints.count { $0.isSuspect })
      } catch {
        parts.logger.debug(
          "the subscriptions cannot be listed, or the heartbeat cannot be sent; it is tried again", metadata: ["reason": "\(error)"])
        // Without a heartbeat, other instances take the endpoints after the timeout. Posting stops before that.
        if lastHeartbeatAt.duration(to: .now) > parts.settings.pusherTimeout / 2 { setPaused(true) }
      }
      lastRoundAt.withLock { $0 = .now }
      if !isOpening { await signal.wait(for: pushers.isEmpty ? .milliseconds(50) : Self.roundInterval) }
    }
  }

  private func setPaused(_ isPaused: Bool) {
    for endpoint in running.withLock({ $0.values.map(\.endpoint) }) { endpoint.setPaused(isPaused) }
  }

  /// Stops the endpoints that are not wanted any more, or whose settings have changed. Returns the names of those that still run.
  private func stopUnwanted(_ wanted: [String: (EventSubscription, EndpointSettings)]) -> Set<String> {
    running.withLock { running in
      for (name, one) in running {
        if one.hasEnded {
          running.removeValue(forKey: name)
          continue
        }
        let isSame = wanted[name].map { $0.0.sharesProgress(with: one.endpoint.subscription) && $0.1 == one.endpoint.settings } ?? false
        if !isSame { one.endpoint.stop() }
      }
      return Set(running.keys)
    }
  }

  /// Opens endpoints that do not run yet. Returns true if some remain for the next round.
  private func open(_ own: [String: (EventSubscription, EndpointSettings)]) async -> Bool {
    let missing = running.withLock { running in own.filter { running[$0.key] == nil } }
    let opened = Dictionary(uniqueKeysWithValues: missing.prefix(Self.maxOpensPerRound).map { ($0.key, $0.value) })
    await withTaskGroup(of: Void.self) { group in
      var remaining = opened.values.makeIterator()
      func openNext() {
        guard let (subscription, settings) = remaining.next() else { return }
        group.addTask { await self.open(subscription, settings) }
      }
      for _ in 0..<Self.maxConcurrentOpens { openNext() }
      while await group.next() != nil { openNext() }
    }
    return missing.count > opened.count
  }

  private func open(_ subscription: EventSubscription, _ settings: EndpointSettings) async {
    let endpoint: PushEndpoint
    do throws(EventFeedError) { endpoint = try await .open(subscription, settings, parts) } catch {
      parts.metrics.couldNotOpen()
      parts.logger.warning("an endpoint cannot be opened", metadata: ["subscription": "\(subscription.name)", "reason": "\(error)"])
      return
    }
    let name = subscription.name
    running.withLock { running in
      let task = Task {
        await endpoint.run()
        self.running.withLock { $0[name]?.hasEnded = true }
      }
      running[name] = Running(endpoint: endpoint, task: task)
    }
  }

  /// Stops all endpoints, waits until they have ended, and removes this instance from the registry.
  private func leave() async {
    let all = running.withLock { $0 }
    for one in all.values { one.endpoint.stop() }
    for one in all.values { await one.task.value }
    try? await registry.leave(name, givingBack: claims.withLock { $0.all })
  }
}
