public import RedisClient
import Synchronization

/// A circuit breaker that all instances of a service share through Redis, by Redis' clock. If a server mostly fails, all instances stop
/// calling it together; one of them probes it, and all resume together when it has recovered.
///
/// A key identifies a breaker. It has a hash tag, and all instances that use it must have the same rule. Each instance caches the state for
/// a quarter of a second, so successful calls cost at most four commands a second. Failures are reported at once, which costs further
/// commands; successes are reported with the next query. A probe is held under a lease (``CircuitBreaker/Rule/probePatience``), so that a
/// probe of an instance that died does not block others. While Redis does not answer, each instance uses a breaker of its own.
///
///     switch await breaker.admit() {
///     case .wait(let milliseconds): …
///     case .call(let permit):
///       …
///       await breaker.record(permit, .succeeded)
///     }
public final class SharedCircuitBreaker: Sendable {
  /// Permission for one call. The call's result is recorded with it.
  public struct Permit: Sendable, Hashable {
    enum Origin: Sendable, Hashable {
      /// Admitted by the closed shared breaker, in that period.
      case closed(Int64)
      case probe(period: Int64, number: Int64)
      /// Admitted by the instance's own breaker, because Redis did not answer.
      case own(CircuitBreaker.Permit)
    }

    let origin: Origin

    init(_ origin: Origin) { self.origin = origin }

    /// True if the call is a probe.
    public var isProbe: Bool {
      switch origin {
      case .closed: false
      case .probe: true
      case .own(let permit): permit.isProbe
      }
    }
  }

  /// The decision about a call.
  public enum Admission: Sendable, Hashable {
    case call(Permit)
    /// The call may not be made now; ask again after that many milliseconds, at least 1.
    case wait(Int64)
  }

  public let rule: CircuitBreaker.Rule
  private let store: BreakerStore
  private let view: Mutex<SharedBreakerView>

  /// - Parameter key: with a hash tag, such as `{attr:017}:service:breaker`.
  public init(redis: RedisClient, key: String, rule: CircuitBreaker.Rule) {
    self.rule = rule
    store = BreakerStore(redis: redis, key: key, rule: rule)
    view = Mutex(SharedBreakerView(rule))
  }

  /// The state of the breaker, as this instance knows it.
  public var phase: CircuitBreaker.Phase { view.withLock(\.phase) }

  /// The state of the breaker, and the number of times that this instance saw it close.
  public var seen: (phase: CircuitBreaker.Phase, closings: Int) { view.withLock { ($0.phase, $0.closings) } }

  /// Asks for permission to make one call. The caller must record the result by ``record(_:_:)``, unless the breaker was closed and the
  /// call was not made.
  public func admit() async -> Admission {
    // An answer may require another query: the breaker may be open with its pause over, or another instance may have got the probe.
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

  /// A permit for another call by the cached state, without a query; nil while the breaker is not closed.
  public func permit() -> Permit? { view.withLock { $0.permit(now: Self.now) } }

  /// Records the result of a call.
  public func record(_ permit: Permit, _ result: CircuitBreaker.Result) async {
    if case .probe(let period, let number) = permit.origin { return await end(period, number, result) }
    let isUrgent = view.withLock { $0.record(permit, result, now: Self.now, chance: .random(in: 0..<1)) }
    if isUrgent { await report() }
  }

  /// Refreshes the cached state, for an instance that makes no calls at present.
  public func refresh() async {
    guard view.withLock({ $0.isStale(now: Self.now) }) else { return }
    await report()
  }

  /// Reports the results that Redis does not know, and adopts its answer. Repeats this if calls failed meanwhile. Does nothing while
  /// another query is in flight.
  private func report() async {
    while let report = view.withLock({ $0.beginReport() }) {
      let reply = await store.count(report, shortening: shortening)
      let hasFailures = view.withLock { view in
        view.endQuestion(reply?.state, now: Self.now)
        return view.hasFailures
      }
      guard hasFailures else { return }
    }
  }

  private func probe() async -> Permit? {
    guard view.withLock({ $0.beginProbe() }) else { return nil }
    let reply = await store.probe()
    view.withLock { $0.endQuestion(reply?.state, now: Self.now) }
    guard let reply, let number = reply.probe else { return nil }
    return Permit(.probe(period: reply.state.period, number: number))
  }

  private func end(_ period: Int64, _ number: Int64, _ result: CircuitBreaker.Result) async {
    // Without an answer, the probe's lease expires.
    guard let reply = await store.end(number, period: period, result, shortening: shortening) else { return }
    view.withLock { $0.learn(reply.state, now: Self.now) }
  }

  /// The share by which a pause that begins now is shortened.
  private var shortening: Double { rule.jitter * .random(in: 0..<1) }

  private static let origin = ContinuousClock.now

  /// Milliseconds of a monotonic clock.
  private static var now: Int64 { Int64(origin.duration(to: .now) / .milliseconds(1)) }
}
