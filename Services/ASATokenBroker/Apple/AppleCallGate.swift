import AttributionQueue
import Synchronization
import UpstreamPacing

/// Says how many calls Apple may get now: by its health, by the rate and by the number of calls under way, all three over all instances.
final class AppleCallGate: WorkGate {
  /// What was admitted and not begun within this time is admitted anew, milliseconds.
  private static let freshness: Int64 = 1000
  /// Tokens that are remembered until Apple is back; those before them come by their own schedule.
  private static let mostStranded = 10_000
  /// Apple is back when calls succeed and none has failed for this long, milliseconds.
  private static let calm: Int64 = 5000
  /// When to ask again while all permits are in use.
  private static let permitWait: Duration = .milliseconds(20)

  private struct State {
    /// Calls that the rate has room for, reserved and not begun.
    var units = 0
    var unitsAt: Int64 = 0
    /// Leave to probe, not used yet.
    var probe: SharedCircuitBreaker.Ticket?
    var probeAt: Int64 = 0
    /// Tokens whose calls failed.
    var stranded = UpstreamRetrySet<DeliveryID>(calm: AppleCallGate.calm, bound: AppleCallGate.mostStranded)
    /// When it was last asked for leave, by tokens that wait, or one was made to wait (``AppleCallGate/forgotten()``).
    var admittedAt: Int64 = 0
    /// How often the breaker was seen to close when it was looked last.
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

  func admit(_ most: Int) async -> WorkAdmission {
    let now = Self.now
    let health = await health(most)
    guard case .some(let healthy) = health else { return health }
    let free = concurrency.take(healthy)
    // Only asked for: each call takes its own.
    concurrency.giveBack(free)
    guard free > 0 else { return .wait(Self.permitWait) }
    let reserved = state.withLock { state in
      if now - state.unitsAt > Self.freshness { state.units = 0 }
      return state.units
    }
    if reserved > 0 { return .some(min(reserved, free)) }
    switch await rate.reserve(1...free) {
    case .refused(let wait): return .wait(wait)
    case .granted(let units, _):
      state.withLock { state in
        state.units += units
        state.unitsAt = Self.now
      }
      return .some(units)
    }
  }

  /// How many calls Apple's health allows: one while it is found out whether it is back.
  private func health(_ most: Int) async -> WorkAdmission {
    let now = Self.now
    let (mayProbe, unused) = state.withLock { state -> (Bool, SharedCircuitBreaker.Ticket?) in
      state.admittedAt = now
      guard let probe = state.probe else { return (false, nil) }
      guard now - state.probeAt > Self.freshness else { return (true, nil) }
      state.probe = nil
      return (false, probe)
    }
    if mayProbe { return .some(1) }
    if let unused { await breaker.record(unused, .abandoned) }
    switch await breaker.admit() {
    case .wait(let wait): return .wait(.milliseconds(wait))
    case .call(let ticket):
      guard ticket.isProbe else { return .some(most) }
      state.withLock { state in
        state.probe = ticket
        state.probeAt = Self.now
      }
      return .some(1)
    }
  }

  /// Leave for one call, or nil when none may be made now. ``end(_:_:)`` gives it back.
  func begin() -> SharedCircuitBreaker.Ticket? {
    state.withLock { state in
      guard state.units > 0, concurrency.take(1) == 1 else { return nil }
      if let probe = state.probe {
        state.probe = nil
        state.units -= 1
        return probe
      }
      guard let ticket = breaker.ticket() else {
        concurrency.giveBack()
        return nil
      }
      state.units -= 1
      return ticket
    }
  }

  /// What became of a call. When it shows that Apple is back: the tokens that failed and wait by their own schedules meanwhile.
  func end(_ ticket: SharedCircuitBreaker.Ticket, _ result: CircuitBreaker.Result) async -> [DeliveryID] {
    concurrency.giveBack()
    await breaker.record(ticket, result)
    return savedTokens(succeeded: result == .succeeded)
  }

  /// Looks whether another instance has found Apple back; then as ``end(_:_:)``.
  func look() async -> [DeliveryID] {
    await breaker.look()
    return savedTokens(succeeded: false)
  }

  /// Tokens that need not wait any longer: the breaker closed, or a call succeeded and none has failed for a while.
  private func savedTokens(succeeded: Bool) -> [DeliveryID] {
    let (phase, closings) = breaker.seen
    return state.withLock { state in
      guard phase == .closed else { return [] }
      let closed = closings != state.closings
      state.closings = closings
      return closed || succeeded ? state.stranded.succeeded(closesCircuit: closed, now: Self.now) : []
    }
  }

  /// A token failed for Apple's sake: it need not wait for its schedule once Apple is back.
  func strand(_ id: DeliveryID) {
    state.withLock { $0.stranded.add(id, now: Self.now) }
  }

  /// A token that failed, to find out with whether Apple is back when nobody else does: while the breaker is open, when no token has waited
  /// for longer than it stays so; otherwise when none has failed for a while.
  func forgotten() -> DeliveryID? {
    let now = Self.now
    let phase = breaker.phase
    return state.withLock { state in
      guard phase != .closed else { return state.stranded.trial(now: now) }
      guard now - state.admittedAt > breaker.rule.longestPause else { return nil }
      // One at a time: while the queue is paused, none is asked about.
      state.admittedAt = now
      return state.stranded.popYoungest()
    }
  }

  /// Another one, in place of one that does not wait any more.
  func another() -> DeliveryID? { state.withLock { $0.stranded.popYoungest() } }

  /// Apple asks for patience: nobody asks for so long.
  func hold(for time: Duration) async {
    state.withLock { $0.units = 0 }
    await rate.hold(for: time)
  }

  private static let origin = ContinuousClock.now

  /// Milliseconds of a clock that only goes forward.
  private static var now: Int64 { Int64(origin.duration(to: .now) / .milliseconds(1)) }
}
