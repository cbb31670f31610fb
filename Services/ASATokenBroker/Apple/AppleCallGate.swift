import AttributionQueue
import Synchronization
import UpstreamPacing

/// Decides how many calls to Apple may begin now, by Apple's health, by the rate and by the number of concurrent calls, each over all
/// instances.
final class AppleCallGate: WorkGate {
  /// The time after which an unused admission expires, milliseconds.
  private static let freshness: Int64 = 1000
  /// The greatest number of tokens that are remembered for Apple's recovery; others are retried by their own schedules.
  private static let maxWaitingRetries = 10_000
  /// The time without failures after which Apple counts as recovered, milliseconds.
  private static let calm: Int64 = 5000
  /// The wait while all permits are in use.
  private static let permitWait: Duration = .milliseconds(20)

  private struct State {
    /// Calls that were reserved with the rate limit and have not begun.
    var units = 0
    var unitsAt: Int64 = 0
    /// An unused permission to probe.
    var probe: SharedCircuitBreaker.Permit?
    var probeAt: Int64 = 0
    /// Tokens whose calls failed.
    var waitingRetries = UpstreamRetrySet<DeliveryID>(calm: AppleCallGate.calm, maxElements: AppleCallGate.maxWaitingRetries)
    /// The last time at which tokens are known to wait for admission: the last request for admission, or the end of a wait for the rate
    /// limit. ``AppleCallGate/tokenForTestCall()`` sets it too.
    var lastDemandAt: Int64 = 0
    /// The number of closings of the breaker at the last check.
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

  var phase: CircuitBreaker.Phase { breaker.phase }

  func admit(_ limit: Int) async -> WorkAdmission {
    let now = Self.now
    let health = await health(limit)
    guard case .some(let healthy) = health else { return health }
    let free = concurrency.take(healthy)
    // The permits are returned at once, because ``begin()`` takes one for each call.
    concurrency.giveBack(free)
    guard free > 0 else { return .wait(Self.permitWait) }
    let reserved = state.withLock { state in
      if now - state.unitsAt > Self.freshness { state.units = 0 }
      return state.units
    }
    if reserved > 0 { return .some(min(reserved, free)) }
    switch await rate.reserve(1...free) {
    case .refused(let wait):
      state.withLock { $0.lastDemandAt = max($0.lastDemandAt, now + wait.milliseconds) }
      return .wait(wait)
    case .granted(let units, _):
      state.withLock { state in
        state.units += units
        state.unitsAt = Self.now
      }
      return .some(units)
    }
  }

  /// The number of calls that Apple's health allows: one while Apple is being probed.
  private func health(_ limit: Int) async -> WorkAdmission {
    let now = Self.now
    let (mayProbe, unused) = state.withLock { state -> (Bool, SharedCircuitBreaker.Permit?) in
      state.lastDemandAt = now
      guard let probe = state.probe else { return (false, nil) }
      guard now - state.probeAt > Self.freshness else { return (true, nil) }
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

  /// Permission for one call; nil if none may begin now. ``end(_:_:)`` returns it.
  func begin() -> SharedCircuitBreaker.Permit? {
    state.withLock { state in
      guard state.units > 0, concurrency.take(1) == 1 else { return nil }
      if let probe = state.probe {
        state.probe = nil
        state.units -= 1
        return probe
      }
      guard let permit = breaker.permit() else {
        concurrency.giveBack()
        return nil
      }
      state.units -= 1
      return permit
    }
  }

  /// Records the result of a call. If it shows that Apple has recovered, returns the tokens that failed meanwhile, which wait by their own
  /// schedules.
  func end(_ permit: SharedCircuitBreaker.Permit, _ result: CircuitBreaker.Result) async -> [DeliveryID] {
    concurrency.giveBack()
    await breaker.record(permit, result)
    return releasedRetries(succeeded: result == .succeeded)
  }

  /// Checks whether another instance has found that Apple has recovered; then returns the same as ``end(_:_:)``.
  func refresh() async -> [DeliveryID] {
    await breaker.refresh()
    return releasedRetries(succeeded: false)
  }

  /// The tokens that need not wait any longer, because the breaker closed, or because a call succeeded and none has failed for a while.
  private func releasedRetries(succeeded: Bool) -> [DeliveryID] {
    let (phase, closings) = breaker.seen
    return state.withLock { state in
      guard phase == .closed else { return [] }
      let closed = closings != state.closings
      state.closings = closings
      return closed || succeeded ? state.waitingRetries.succeeded(closesCircuit: closed, now: Self.now) : []
    }
  }

  /// Remembers a token whose call failed because of Apple, so that it is retried at once when Apple has recovered.
  func addWaitingRetry(_ id: DeliveryID) {
    state.withLock { $0.waitingRetries.add(id, now: Self.now) }
  }

  /// A token whose call failed, for a test call; nil if none is due. While the breaker is closed, one is due when no call has failed for
  /// ``calm``. Otherwise one is due when no other token has asked for admission during the breaker's longest pause.
  func tokenForTestCall() -> DeliveryID? {
    let now = Self.now
    let phase = breaker.phase
    return state.withLock { state in
      guard phase != .closed else { return state.waitingRetries.trial(now: now) }
      guard now - state.lastDemandAt > breaker.rule.maxPause else { return nil }
      // The next one follows after another longest pause. Without this, each check would return one while the queue is paused.
      state.lastDemandAt = now
      return state.waitingRetries.popYoungest()
    }
  }

  /// Another token, if the first one no longer waits.
  func nextTokenForTestCall() -> DeliveryID? { state.withLock { $0.waitingRetries.popYoungest() } }

  /// Stops all calls of all instances for a time that Apple asked for.
  func hold(for time: Duration) async {
    state.withLock { $0.units = 0 }
    await rate.hold(for: time)
  }

  private static let origin = ContinuousClock.now

  /// Milliseconds of a monotonic clock.
  private static var now: Int64 { Int64(origin.duration(to: .now) / .milliseconds(1)) }
}
