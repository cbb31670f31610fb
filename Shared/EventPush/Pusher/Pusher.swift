public import AttributionQueue
import Cryptography
public import HTTPClient
public import Logging
public import ServiceRuntime
import Synchronization
public import Traces

/// Pushes the events of subscriptions that name an endpoint.
///
/// Instances share the endpoints: each endpoint has one instance at a time, and its successor begins at the stored progress. An event
/// counts as delivered when its endpoint has answered 2xx, so it is posted again after a crash before that.
///
///     let pusher = Pusher(feed: feed, settings: configuration.push, http: http, names: names, metrics: PushMetrics(registry), logger: logger)
///     parts.workers.append(BackgroundWork(stop: { pusher.stop() }, work: { await pusher.run() }))
public final class Pusher: Sendable {
  private struct Running {
    let endpoint: PushEndpoint
    let task: Task<Void, Never>
    var hasEnded = false
  }

  private static let interval: Duration = .seconds(1)
  private static let minPause: Duration = .milliseconds(20)
  private static let maxPause: Duration = .milliseconds(160)
  /// The numbers of endpoints that are opened concurrently, and between two heartbeats. Opening one takes two commands for each shard.
  private static let openedAtOnce = 4
  private static let openedInARow = 64

  private let parts: PushParts
  private let registry: PusherRegistry
  private let name = Hex.encode(RandomBytes.make(8))
  private let running = Mutex<[String: Running]>([:])
  private let claims = Mutex(EndpointClaims())
  private let isStopping = Atomic(false)
  /// When the last round over the subscriptions ended, with or without an error.
  private let turned = Mutex(ContinuousClock.now)
  private let signal = WakeSignal()

  /// - Parameters:
  ///   - http: trust anchors and the connect timeout.
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

  /// True if the pusher has not completed a round over the subscriptions for more than 90 seconds.
  public var isStalled: Bool { turned.withLock { $0 }.duration(to: .now) > .seconds(90) }

  /// Makes ``run()`` end.
  public func stop() {
    isStopping.store(true, ordering: .relaxed)
    signal.wake()
  }

  /// Pushes until it is stopped or its task is cancelled; then settles the posts in flight and releases its endpoints.
  public func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.follow() }
      await self.manage()
      group.cancelAll()
    }
    await leave()
    parts.poster.shutdown()
  }

  // MARK: Reading

  /// Polls the tails of all shards for all endpoints, more often while there are new events.
  private func follow() async {
    var pause = Self.minPause
    while !Task.isCancelled {
      guard running.withLock({ !$0.isEmpty }) else {
        do { try await Task.sleep(for: Self.maxPause) } catch { return }
        continue
      }
      var mayHaveMore = false
      do throws(EventFeedError) {
        let (findings, more) = try await parts.tails.poll()
        mayHaveMore = more
        pause = findings.isEmpty ? min(pause * 2, Self.maxPause) : Self.minPause
        // Read after the poll: an endpoint that was opened meanwhile may have read up to the end of the previous poll, and needs these
        // events.
        let endpoints = running.withLock { $0.values.map(\.endpoint) }
        for endpoint in endpoints where !findings.isEmpty || endpoint.settings.isOrdered { endpoint.offer(findings) }
      } catch {
        pause = Self.maxPause
      }
      if mayHaveMore { continue }
      do { try await Task.sleep(for: pause) } catch { return }
    }
  }

  // MARK: Endpoints

  private func manage() async {
    var pushers: [String] = []
    var heard = ContinuousClock.now
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
        let running = stopOthers(wanted)
        let names = Set(wanted.keys)
        let given = claims.withLock { claims in
          claims.ask(for: names)
          return claims.given(wanted: names, running: running)
        }
        let registration = try await registry.beat(name, givingBack: given, wanting: Array(names))
        claims.withLock { $0.take(registration.own, running: running) }
        pushers = registration.pushers
        heard = .now
        rest(false)
        isOpening = await open(wanted.filter { registration.own.contains($0.key) })
        let endpoints = self.running.withLock { $0.values.map(\.endpoint) }
        parts.metrics.count(endpoints: endpoints.count, suspect: endpoints.count { $0.isSuspect })
      } catch {
        parts.logger.debug("the instances that push cannot be listed now", metadata: ["reason": "\(error)"])
        // Another instance may own the endpoints by now.
        if heard.duration(to: .now) > parts.settings.pusherTimeout / 2 { rest(true) }
      }
      turned.withLock { $0 = .now }
      if !isOpening { await signal.wait(for: pushers.isEmpty ? .milliseconds(50) : Self.interval) }
    }
  }

  private func rest(_ isResting: Bool) {
    for endpoint in running.withLock({ $0.values.map(\.endpoint) }) { endpoint.rest(isResting) }
  }

  /// Stops endpoints that are not wanted with their present settings. Returns those that have not ended.
  private func stopOthers(_ wanted: [String: (EventSubscription, EndpointSettings)]) -> Set<String> {
    running.withLock { running in
      for (name, one) in running {
        if one.hasEnded {
          running.removeValue(forKey: name)
          continue
        }
        let isSame = wanted[name].map { $0.0.isReadAs(one.endpoint.subscription) && $0.1 == one.endpoint.settings } ?? false
        if !isSame { one.endpoint.stop() }
      }
      return Set(running.keys)
    }
  }

  /// Opens endpoints that do not run yet. Returns true if some remain to be opened.
  private func open(_ own: [String: (EventSubscription, EndpointSettings)]) async -> Bool {
    let all = running.withLock { running in own.filter { running[$0.key] == nil } }
    let missing = Dictionary(uniqueKeysWithValues: all.prefix(Self.openedInARow).map { ($0.key, $0.value) })
    await withTaskGroup(of: Void.self) { group in
      var left = missing.values.makeIterator()
      func openNext() {
        guard let (subscription, settings) = left.next() else { return }
        group.addTask { await self.open(subscription, settings) }
      }
      for _ in 0..<Self.openedAtOnce { openNext() }
      while await group.next() != nil { openNext() }
    }
    return all.count > missing.count
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

  private func leave() async {
    let all = running.withLock { $0 }
    for one in all.values { one.endpoint.stop() }
    for one in all.values { await one.task.value }
    try? await registry.leave(name, givingBack: claims.withLock { $0.all })
  }
}
