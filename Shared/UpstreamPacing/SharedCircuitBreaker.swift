public import RedisClient
import Synchronization

/// A circuit breaker that all instances of a service share through Redis, by Redis' clock (``CircuitBreaker`` has the rules). If most calls
/// to a server fail, all instances stop calling it. Then only a few calls are admitted as probes, from any instance. When enough of them
/// succeed, all instances resume.
///
/// ```swift
/// switch await breaker.admit() {
/// case .wait(let milliseconds): …
/// case .call(let permit):
///   …
///   await breaker.record(permit, .succeeded)
/// }
/// ```
///
/// A key with a hash tag identifies a breaker. All instances that use it must have the same rule. Each instance caches the state for a
/// quarter of a second, so it needs at most four commands per second while calls succeed. Successes are reported with the next query,
/// failures at once by further commands. A probe whose instance has died does not block others, because it times out
/// (``CircuitBreaker/Rule/probeTimeout``). While Redis does not reply, each instance uses a local breaker.
public final class SharedCircuitBreaker: Sendable {
  /// The permission for one call. ``SharedCircuitBreaker/record(_:_:)`` needs it.
  public struct Permit: Sendable, Hashable {
    enum Origin: Sendable, Hashable {
      /// The call was admitted in this period, in which the shared breaker was closed.
      case closed(Int64)
      /// The call is a probe of the shared breaker.
      case probe(period: Int64, number: Int64)
      /// The call was admitted by the local breaker, because Redis did not reply.
      case local(CircuitBreaker.Permit)
    }

    let origin: Origin

    init(_ origin: Origin) { self.origin = origin }

    /// True if the call is a probe.
    public var isProbe: Bool {
      switch origin {
      case .closed: false
      case .probe: true
      case .local(let permit): permit.isProbe
      }
    }
  }

  /// The decision about a call.
  public enum Admission: Sendable, Hashable {
    case call(Permit)
    /// The call must not be made now. The caller may try again after that many milliseconds, at least 1.
    case wait(Int64)
  }

  public let rule: CircuitBreaker.Rule
  private let store: BreakerStore
  private let view: Mutex<SharedBreakerView>

  /// - Parameter key: the breaker's key in Redis, with a hash tag, such as `{attr:017}:service:breaker`.
  public init(redis: RedisClient, key: String, rule: CircuitBreaker.Rule) {
    self.rule = rule
    store = BreakerStore(redis: redis, key: key, rule: rule)
    view = Mutex(SharedBreakerView(rule))
  }

  /// The phase of the breaker, as this instance knows it.
  public var phase: CircuitBreaker.Phase { view.withLock(\.phase) }

  /// The phase of the breaker, and the number of times that it has closed, as far as this instance has noticed.
  public var observed: (phase: CircuitBreaker.Phase, closings: Int) { view.withLock { ($0.phase, $0.closings) } }

  /// Decides whether one call may be made now. If so, the caller must record the call's result by ``record(_:_:)``, unless the breaker was
  /// closed and the call was not made.
  public func admit() async -> Admission {
    // A reply may require another query: the breaker may be open with its pause over, or another instance may have got the probe.
    for _ in 0..<4 {
      switch view.withLock({ $0.next(now: Self.now) }) {
      case .call(let permit): return .call(permit)
      case .wait(let wait): return .wait(max(1, wait))
      case .report: await report()
      case .probe: if let permit = await probe() { return .call(permit) }
      }
    }
    return .wait(SharedBreakerView.freshness)
  }

  /// A permit for another call by the cached state, without a query; nil if the breaker is not closed.
  public func permit() -> Permit? { view.withLock { $0.permit(now: Self.now) } }

  /// Records the result of a call.
  public func record(_ permit: Permit, _ result: CircuitBreaker.Result) async {
    if case .probe(let period, let number) = permit.origin { return await end(period, number, result) }
    let isUrgent = view.withLock { $0.record(permit, result, now: Self.now, chance: .random(in: 0..<1)) }
    if isUrgent { await report() }
  }

  /// Refreshes the cached state if it is too old, for an instance that makes no calls at present.
  public func refresh() async {
    guard view.withLock({ $0.isStale(now: Self.now) }) else { return }
    await report()
  }

  /// Reports the results that Redis does not have yet, and adopts the state in its reply. Repeats this if calls have failed during the
  /// query. Does nothing while another query is in flight.
  private func report() async {
    while let report = view.withLock({ $0.beginReport() }) {
      let reply = await store.count(report, shortening: shortening)
      let hasFailures = view.withLock { view in
        view.endQuery(reply?.state, now: Self.now)
        return view.hasFailures
      }
      guard hasFailures else { return }
    }
  }

  /// Asks Redis for permission to probe; nil if there is none.
  private func probe() async -> Permit? {
    guard view.withLock({ $0.beginProbe() }) else { return nil }
    let reply = await store.probe()
    view.withLock { $0.endQuery(reply?.state, now: Self.now) }
    guard let reply, let number = reply.probe else { return nil }
    return Permit(.probe(period: reply.state.period, number: number))
  }

  /// Records the result of a probe of the shared breaker.
  private func end(_ period: Int64, _ number: Int64, _ result: CircuitBreaker.Result) async {
    // Without a reply, the probe times out in Redis.
    guard let reply = await store.end(number, period: period, result, shortening: shortening) else { return }
    view.withLock { $0.adopt(reply.state, now: Self.now) }
  }

  /// The part of a pause by which it is shortened if it begins now.
  private var shortening: Double { rule.jitter * .random(in: 0..<1) }

  private static let origin = ContinuousClock.now

  /// Milliseconds of a monotonic clock.
  private static var now: Int64 { Int64(origin.duration(to: .now) / .milliseconds(1)) }
}
