/// What an instance knows about a shared breaker. It decides the next step, which ``SharedCircuitBreaker`` carries out.
///
/// While Redis does not reply, the instance uses a local breaker, which has counted the results of this instance's calls. Random numbers
/// and times are passed in; times are milliseconds of a monotonic clock.
struct SharedBreakerView: Sendable {
  /// The state of the shared breaker, as Redis reported it.
  struct SharedState: Sendable, Hashable {
    var phase: CircuitBreaker.Phase
    /// The number of the phase. It grows with each change of phase.
    var period: Int64
    /// The time in milliseconds until a probe is allowed.
    var wait: Int64
  }

  /// Results of calls that were admitted in one period, and that Redis does not have yet.
  struct Report: Sendable, Hashable {
    var period: Int64
    var succeeded: Int
    var failed: Int
  }

  /// The next step before a call.
  enum Step: Sendable, Hashable {
    /// Make the call.
    case call(SharedCircuitBreaker.Permit)
    /// Do not make the call before that many milliseconds have passed.
    case wait(Int64)
    /// Report the results that Redis does not have yet, and get the state of the breaker.
    case report
    /// Ask Redis for permission to use this call as a probe.
    case probe
  }

  /// The greatest age in milliseconds of the known state with which calls are made.
  static let freshness: Int64 = 250

  /// The number of times that the breaker has closed, as far as this instance has noticed.
  private(set) var closings = 0
  /// True if Redis did not reply to the last query. Then `local` decides.
  private(set) var usesLocalBreaker = false
  private var shared = SharedState(phase: .closed, period: 0, wait: 0)
  private var local: CircuitBreaker
  /// The time of the next query to Redis, for the state or for permission to probe.
  private var nextQuery: Int64 = .min
  /// True if a query is in flight.
  private var isQuerying = false
  /// The numbers of results that are not reported yet.
  private var succeeded = 0
  private var failed = 0

  init(_ rule: CircuitBreaker.Rule) { local = CircuitBreaker(rule) }

  var phase: CircuitBreaker.Phase { usesLocalBreaker ? local.phase : shared.phase }

  /// The next step before a call.
  mutating func next(now: Int64) -> Step {
    let isDue = now >= nextQuery && !isQuerying
    if usesLocalBreaker {
      guard !isDue else { return .report }
      switch local.admit(now: now) {
      case .call(let permit): return .call(SharedCircuitBreaker.Permit(.local(permit)))
      case .wait(let wait): return .wait(wait)
      }
    }
    if shared.phase == .closed { return isDue ? .report : .call(SharedCircuitBreaker.Permit(.closed(shared.period))) }
    guard !isDue else { return .probe }
    return .wait(isQuerying ? Self.freshness : nextQuery - now)
  }

  /// A permit for a call by the known state, without a query; nil if the breaker is not closed.
  mutating func permit(now: Int64) -> SharedCircuitBreaker.Permit? {
    guard phase == .closed else { return nil }
    guard usesLocalBreaker else { return SharedCircuitBreaker.Permit(.closed(shared.period)) }
    guard case .call(let permit) = local.admit(now: now) else { return nil }
    return SharedCircuitBreaker.Permit(.local(permit))
  }

  /// True if the known state may be out of date, and no query is in flight.
  func isStale(now: Int64) -> Bool { now >= nextQuery && !isQuerying }

  /// Records the result of a call that was not a probe of the shared breaker. Returns true if the result must be reported to Redis at once,
  /// as failures must, so that all instances notice them.
  mutating func record(
    _ permit: SharedCircuitBreaker.Permit, _ result: CircuitBreaker.Result, now: Int64, chance: Double
  ) -> Bool {
    switch permit.origin {
    case .probe: return false
    case .local(let permit):
      let before = local.phase
      local.record(permit, result, now: now, chance: chance)
      if usesLocalBreaker, before != .closed, local.phase == .closed { closings += 1 }
      return false
    case .closed(let period):
      if local.phase == .closed, case .call(let permit) = local.admit(now: now) {
        local.record(permit, result, now: now, chance: chance)
      }
      guard period == shared.period, shared.phase == .closed else { return false }
      switch result {
      case .abandoned: return false
      case .succeeded:
        succeeded += 1
        return false
      case .failed:
        failed += 1
        return !usesLocalBreaker
      }
    }
  }

  /// Begins a query that reports the results that Redis does not have yet. Nil while another query is in flight.
  mutating func beginReport() -> Report? {
    guard !isQuerying else { return nil }
    isQuerying = true
    defer { (succeeded, failed) = (0, 0) }
    return Report(period: shared.period, succeeded: succeeded, failed: failed)
  }

  /// Begins a query for permission to probe. False while another query is in flight.
  mutating func beginProbe() -> Bool {
    guard !isQuerying else { return false }
    isQuerying = true
    return true
  }

  /// True if calls have failed since the last report began, and Redis replies.
  var hasFailures: Bool { failed > 0 && !usesLocalBreaker }

  /// Ends a query.
  ///
  /// - Parameter state: the state in Redis' reply; nil if there was no reply.
  mutating func endQuery(_ state: SharedState?, now: Int64) {
    isQuerying = false
    guard let state else {
      usesLocalBreaker = true
      nextQuery = now + Self.freshness
      return
    }
    adopt(state, now: now)
  }

  /// Replaces the known state by the one in a reply of Redis.
  mutating func adopt(_ state: SharedState, now: Int64) {
    let wasClosed = phase == .closed && shared.period == state.period
    if state.period != shared.period { (succeeded, failed) = (0, 0) }
    usesLocalBreaker = false
    shared = state
    switch state.phase {
    case .closed:
      nextQuery = now + Self.freshness
      if !wasClosed { closings += 1 }
    case .halfOpen: nextQuery = now + min(CircuitBreaker.probeCheckInterval, local.rule.probeTimeout)
    case .open: nextQuery = now + state.wait
    }
  }
}
