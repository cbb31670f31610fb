import AttributionQueue
import Synchronization
import UpstreamPacing

/// Decides how many calls to Apple may begin now. Three limits apply, each over all instances: the circuit breaker, which stops calls while
/// Apple fails, the rate limit, and the number of concurrent calls.
///
/// `DeadlineWorker` calls ``admit(_:)`` before it leases tokens. ``TokenWorker`` calls ``begin()`` before each call and ``end(_:_:)`` after
/// it. The gate also remembers tokens whose calls failed because of Apple (``addWaitingRetry(_:)``); ``end(_:_:)`` and ``refresh()`` return
/// them when Apple has recovered.
final class AppleCallGate: WorkGate {
  /// The time after which an admission that was not used expires, milliseconds.
  private static let admissionLifetime: Int64 = 1000
  /// The greatest number of tokens that are remembered until Apple has recovered; others are retried by their own schedules.
  private static let maxWaitingRetries = 10_000
  /// The time without failures after which Apple counts as recovered, milliseconds.
  private static let recoveryTime: Int64 = 5000
  /// The wait while all permits for concurrent calls are in use.
  private static let permitWait: Duration = .milliseconds(20)

  private struct State {
    /// The number of calls that were reserved with the rate limit and have not begun, and the time of the last reservation.
    var reservedCalls = 0
    var reservedAt: Int64 = 0
    /// The breaker's permit for a probe that was not used yet, and the time at which it was given.
    var probe: SharedCircuitBreaker.Permit?
    var probeAt: Int64 = 0
    /// Tokens whose calls failed because of Apple.
    var waitingRetries = UpstreamRetrySet<DeliveryID>(quietPeriod: AppleCallGate.recoveryTime, maxElements: AppleCallGate.maxWaitingRetries)
    /// The latest time at which tokens are known to wait for admission: the last call of ``AppleCallGate/admit(_:)``, or the end of a wait
    /// for the rate limit. ``AppleCallGate/tokenForTestCall()`` sets it too.
    var lastDemandAt: Int64 = 0
    /// How often the breaker had closed at the last check.
    var closings = 0
  }

  private let state = Mutex(State())
  private let breaker: SharedCircuitBreaker
  private let rate: SharedRateLimit
  private let concurrency: SharedConcurrency

  init(breaker: SharedCircuitBreaker, rate: SharedRateLimit, concurrency: SharedConcurrency) {
    self.breaker = breaker
    self.rate = rate
    self.concurrency = concurrency
  }

  /// The phase of the circuit breaker.
  var phase: CircuitBreaker.Phase { breaker.phase }

  func admit(_ limit: Int) async -> WorkAdmission {
    let now = Self.now
    let health = await health(limit)
    guard case .some(let healthy) = health else { return health }
    let free = concurrency.acquire(healthy)
    // The permits are only counted here: ``begin()`` takes one for each call.
    concurrency.release(free)
    guard free > 0 else { return .wait(Self.permitWait) }
    // Calls that were reserved before and have not begun are used first.
    let reserved = state.withLock { state in
      if now - state.reservedAt > Self.admissionLifetime { state.reservedCalls = 0 }
      return state.reservedCalls
    }
    if reserved > 0 { return .some(min(reserved, free)) }
    switch await rate.reserve(1...free) {
    case .refused(let wait):
      state.withLock { $0.lastDemandAt = max($0.lastDemandAt, now + wait.milliseconds) }
      return .wait(wait)
    case .granted(let units, _):
      state.withLock { state in
        state.reservedCalls += units
        state.reservedAt = Self.now
      }
      return .some(units)
    }
  }

  /// The number of calls that the circuit breaker allows, at most `limit`: one if it is a probe.
  private func health(_ limit: Int) async -> WorkAdmission {
    let now = Self.now
    let (mayProbe, unused) = state.withLock { state -> (Bool, SharedCircuitBreaker.Permit?) in
      state.lastDemandAt = now
      guard let probe = state.probe else { return (false, nil) }
      guard now - state.probeAt > Self.admissionLifetime else { return (true, nil) }
      state.probe = nil
      return (false, probe)
    }
    if mayProbe { return .some(1) }
    if let unused { await breaker.record(unused, .abandoned) }
    switch await breaker.admit() {
    case .wait(let wait): return .wait(.milliseconds(wait))
    case .call(let permit):
      guard permit.isProbe else { return .some(limit) }
      state.withLock { state in
        state.probe = permit
        state.probeAt = Self.now
      }
      return .some(1)
    }
  }

  /// The permit for one call; nil if none may begin now. It must be passed to ``end(_:_:)`` after the call.
  func begin() -> SharedCircuitBreaker.Permit? {
    state.withLock { state in
      guard state.reservedCalls > 0, concurrency.acquire(1) == 1 else { return nil }
      if let probe = state.probe {
        state.probe = nil
        state.reservedCalls -= 1
        return probe
      }
      guard let permit = breaker.permit() else {
        concurrency.release()
        return nil
      }
      state.reservedCalls -= 1
      return permit
    }
  }

  /// Records the result of a call. If it shows that Apple has recovered, returns the remembered tokens, which should be retried at once.
  func end(_ permit: SharedCircuitBreaker.Permit, _ result: CircuitBreaker.Result) async -> [DeliveryID] {
    concurrency.release()
    await breaker.record(permit, result)
    return releasedRetries(succeeded: result == .succeeded)
  }

  /// Reads the state of the circuit breaker, which another instance may have closed. If that shows that Apple has recovered, returns the
  /// remembered tokens.
  func refresh() async -> [DeliveryID] {
    await breaker.refresh()
    return releasedRetries(succeeded: false)
  }

  /// The remembered tokens, if Apple has recovered: if the breaker has closed since the last check, or if a call succeeded and none has
  /// failed for ``recoveryTime``.
  private func releasedRetries(succeeded: Bool) -> [DeliveryID] {
    let (phase, closings) = breaker.observed
    return state.withLock { state in
      guard phase == .closed else { return [] }
      let hasClosed = closings != state.closings
      state.closings = closings
      return hasClosed || succeeded ? state.waitingRetries.succeeded(closesCircuit: hasClosed, now: Self.now) : []
    }
  }

  /// Remembers a token whose call failed because of Apple, so that it is retried at once when Apple has recovered.
  func addWaitingRetry(_ id: DeliveryID) {
    state.withLock { $0.waitingRetries.add(id, now: Self.now) }
  }

  /// A remembered token for a test call, which shows whether Apple has recovered; nil if no test call is due.
  ///
  /// While the breaker is closed, a test call is due when no call has failed for ``recoveryTime``. Otherwise it is due when no token has
  /// waited for admission for longer than the breaker's longest pause, because then nothing else would make the probe.
  func tokenForTestCall() -> DeliveryID? {
    let now = Self.now
    let phase = breaker.phase
    return state.withLock { state in
      guard phase != .closed else { return state.waitingRetries.popForTrial(now: now) }
      guard now - state.lastDemandAt > breaker.rule.maxPause else { return nil }
      // The next test call is due after another longest pause. Without this, each check would return a token while the queue is paused.
      state.lastDemandAt = now
      return state.waitingRetries.popNewest()
    }
  }

  /// Another token for the same test call, if the first one does not wait any more.
  func nextTokenForTestCall() -> DeliveryID? { state.withLock { $0.waitingRetries.popNewest() } }

  /// Stops the calls of all instances for a time that Apple asked for.
  func hold(for time: Duration) async {
    state.withLock { $0.reservedCalls = 0 }
    await rate.hold(for: time)
  }

  private static let origin = ContinuousClock.now

  /// Milliseconds of a monotonic clock.
  private static var now: Int64 { Int64(origin.duration(to: .now) / .milliseconds(1)) }
}
