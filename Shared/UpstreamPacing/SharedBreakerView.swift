/// An instance's view of a shared breaker: the known state, and the next step.
///
/// While Redis does not answer, the instance uses a breaker of its own that saw the same results. Pure: random numbers and times are passed
/// in; times are milliseconds of a monotonic clock.
struct SharedBreakerView: Sendable {
  /// The state of the shared breaker, as Redis reported it.
  struct SharedState: Sendable, Hashable {
    var phase: CircuitBreaker.Phase
    /// Changes with each change of phase.
    var period: Int64
    /// Time until it may be probed, milliseconds.
    var wait: Int64
  }

  /// Results of calls of one period that Redis does not know yet.
  struct Report: Sendable, Hashable {
    var period: Int64
    var succeeded: Int
    var failed: Int
  }

  /// The next step before a call.
  enum Step: Sendable, Hashable {
    case call(SharedCircuitBreaker.Permit)
    /// Milliseconds.
    case wait(Int64)
    /// Ask Redis for the state of the breaker, and report the results that it does not know yet.
    case report
    /// Ask Redis for permission to use this call as a probe.
    case probe
  }

  /// The greatest age of the known state at which calls are still made, milliseconds.
  static let freshness: Int64 = 250

  /// The number of times that the breaker was seen to close.
  private(set) var closings = 0
  /// True if Redis did not answer the last query; then `own` decides.
  private(set) var isAlone = false
  private var shared = SharedState(phase: .closed, period: 0, wait: 0)
  private var own: CircuitBreaker
  /// The time of the next query to Redis, for the state or for permission to probe.
  private var askAt: Int64 = .min
  private var isAsking = false
  private var succeeded = 0
  private var failed = 0

  init(_ rule: CircuitBreaker.Rule) { own = CircuitBreaker(rule) }

  var phase: CircuitBreaker.Phase { isAlone ? own.phase : shared.phase }

  /// The next step before a call now.
  mutating func next(now: Int64) -> Step {
    let isDue = now >= askAt && !isAsking
    if isAlone {
      guard !isDue else { return .report }
      switch own.admit(now: now) {
      case .call(let permit): return .call(SharedCircuitBreaker.Permit(.own(permit)))
      case .wait(let wait): return .wait(wait)
      }
    }
    if shared.phase == .closed { return isDue ? .report : .call(SharedCircuitBreaker.Permit(.closed(shared.period))) }
    guard !isDue else { return .probe }
    return .wait(isAsking ? Self.freshness : askAt - now)
  }

  /// A permit for a call, by the known state; nil while the breaker is not closed.
  mutating func permit(now: Int64) -> SharedCircuitBreaker.Permit? {
    guard phase == .closed else { return nil }
    guard isAlone else { return SharedCircuitBreaker.Permit(.closed(shared.period)) }
    guard case .call(let permit) = own.admit(now: now) else { return nil }
    return SharedCircuitBreaker.Permit(.own(permit))
  }

  /// True if the known state may be out of date and no query is in flight.
  func isStale(now: Int64) -> Bool { now >= askAt && !isAsking }

  /// Records the result of a call that was admitted by the closed breaker, or by this instance's own. Returns true if Redis must get a
  /// report at once: failures are reported at once, so that all instances notice them together.
  mutating func record(
    _ permit: SharedCircuitBreaker.Permit, _ result: CircuitBreaker.Result, now: Int64, chance: Double
  ) -> Bool {
    switch permit.origin {
    case .probe: return false
    case .own(let permit):
      let before = own.phase
      own.record(permit, result, now: now, chance: chance)
      if isAlone, before != .closed, own.phase == .closed { closings += 1 }
      return false
    case .closed(let period):
      if own.phase == .closed, case .call(let permit) = own.admit(now: now) {
        own.record(permit, result, now: now, chance: chance)
      }
      guard period == shared.period, shared.phase == .closed else { return false }
      switch result {
      case .abandoned: return false
      case .succeeded:
        succeeded += 1
        return false
      case .failed:
        failed += 1
        return !isAlone
      }
    }
  }

  /// Begins a query that reports to Redis the results that it does not know yet; nil while another query is in flight.
  mutating func beginReport() -> Report? {
    guard !isAsking else { return nil }
    isAsking = true
    defer { (succeeded, failed) = (0, 0) }
    return Report(period: shared.period, succeeded: succeeded, failed: failed)
  }

  /// Begins a query for permission to probe; false while another query is in flight.
  mutating func beginProbe() -> Bool {
    guard !isAsking else { return false }
    isAsking = true
    return true
  }

  /// True if calls failed since the last report began.
  var hasFailures: Bool { failed > 0 && !isAlone }

  /// Ends a query.
  ///
  /// - Parameter state: nil if Redis gave no answer.
  mutating func endQuestion(_ state: SharedState?, now: Int64) {
    isAsking = false
    guard let state else {
      isAlone = true
      askAt = now + Self.freshness
      return
    }
    learn(state, now: now)
  }

  /// Adopts a state that Redis reported outside a query.
  mutating func learn(_ found: SharedState, now: Int64) {
    let wasClosed = phase == .closed && shared.period == found.period
    if found.period != shared.period { (succeeded, failed) = (0, 0) }
    isAlone = false
    shared = found
    switch found.phase {
    case .closed:
      askAt = now + Self.freshness
      if !wasClosed { closings += 1 }
    case .halfOpen: askAt = now + min(CircuitBreaker.probeCheckInterval, own.rule.probePatience)
    case .open: askAt = now + found.wait
    }
  }
}
