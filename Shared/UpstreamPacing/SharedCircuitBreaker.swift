public import RedisClient
import Synchronization

/// A circuit breaker that all instances of a service share through Redis, by Redis' own clock: all of them notice together that a server
/// mostly fails, one finds out whether it is back, and all notice that at once.
///
/// One key is one breaker: the caller names it by the server, with a hash tag; all that share it state the same rule. What is known of it
/// is kept for a quarter of a second, so that calls cost four commands a second at the most; failures are told at once, successes with
/// the next look. A probe is held under a lease (``CircuitBreaker/Rule/probePatience``): one whose instance died makes room for another.
/// While Redis gives no answer each instance goes by a breaker of its own.
///
///     switch await breaker.admit() {
///     case .wait(let milliseconds): …
///     case .call(let ticket):
///       …
///       await breaker.record(ticket, .succeeded)
///     }
public final class SharedCircuitBreaker: Sendable {
  /// Belongs to one call that was let through; its result is told with it.
  public struct Ticket: Sendable, Hashable {
    enum Origin: Sendable, Hashable {
      /// The shared breaker was closed, in that period.
      case closed(Int64)
      case probe(period: Int64, number: Int64)
      /// Redis gave no answer.
      case own(CircuitBreaker.Ticket)
    }

    let origin: Origin

    init(_ origin: Origin) { self.origin = origin }

    /// Whether the call finds out if the server is back.
    public var isProbe: Bool {
      switch origin {
      case .closed: false
      case .probe: true
      case .own(let ticket): ticket.isProbe
      }
    }
  }

  /// Whether a call may be made.
  public enum Admission: Sendable, Hashable {
    case call(Ticket)
    /// Not now; ask again after so many milliseconds, at least 1.
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

  /// What the breaker does, as far as it is known here.
  public var phase: CircuitBreaker.Phase { view.withLock(\.phase) }

  /// The same, with how often it was seen to close.
  public var seen: (phase: CircuitBreaker.Phase, closings: Int) { view.withLock { ($0.phase, $0.closings) } }

  /// Asks for leave to make one call. Whoever gets it tells the result by ``record(_:_:)``; a call that was let through while the breaker
  /// was closed may as well not be made.
  public func admit() async -> Admission {
    // What is learned may ask for one more question: a breaker that opened whose pause is over, a probe that another one got.
    for _ in 0..<4 {
      switch view.withLock({ $0.next(now: Self.now) }) {
      case .call(let ticket): return .call(ticket)
      case .wait(let wait): return .wait(max(1, wait))
      case .report: await report()
      case .probe: if let ticket = await probe() { return .call(ticket) }
      }
    }
    return .wait(SharedBreakerView.freshness)
  }

  /// Leave for one more call without asking anybody: nil while the breaker is not closed, as far as it is known here.
  public func ticket() -> Ticket? { view.withLock { $0.ticket(now: Self.now) } }

  /// Tells what became of a call.
  public func record(_ ticket: Ticket, _ result: CircuitBreaker.Result) async {
    if case .probe(let period, let number) = ticket.origin { return await end(period, number, result) }
    let isUrgent = view.withLock { $0.record(ticket, result, now: Self.now, chance: .random(in: 0..<1)) }
    if isUrgent { await report() }
  }

  /// Finds out how the breaker stands, where nobody asks for calls.
  public func look() async {
    guard view.withLock({ $0.isStale(now: Self.now) }) else { return }
    await report()
  }

  /// Tells what is not reported and learns how the breaker stands, again while calls fail meanwhile; nothing while another question is
  /// under way.
  private func report() async {
    while let report = view.withLock({ $0.beginReport() }) {
      let answer = await store.count(report, shortening: shortening)
      let hasFailures = view.withLock { view in
        view.endQuestion(answer?.state, now: Self.now)
        return view.hasFailures
      }
      guard hasFailures else { return }
    }
  }

  private func probe() async -> Ticket? {
    guard view.withLock({ $0.beginProbe() }) else { return nil }
    let answer = await store.probe()
    view.withLock { $0.endQuestion(answer?.state, now: Self.now) }
    guard let answer, let number = answer.probe else { return nil }
    return Ticket(.probe(period: answer.state.period, number: number))
  }

  private func end(_ period: Int64, _ number: Int64, _ result: CircuitBreaker.Result) async {
    // Without an answer its lease ends by itself.
    guard let answer = await store.end(number, period: period, result, shortening: shortening) else { return }
    view.withLock { $0.learn(answer.state, now: Self.now) }
  }

  /// By what share of itself a pause that begins now is shortened.
  private var shortening: Double { rule.jitter * .random(in: 0..<1) }

  private static let origin = ContinuousClock.now

  /// Milliseconds of a clock that only goes forward.
  private static var now: Int64 { Int64(origin.duration(to: .now) / .milliseconds(1)) }
}
