/// A circuit breaker for calls to a server. It stops the calls while most of them fail, and finds out by single calls, the probes, whether
/// the server has recovered.
///
/// - Closed: all calls are admitted, and their results are counted over a window.
/// - Open: no call is admitted until a pause is over.
/// - Half open: a few probes are admitted at a time. If enough of them succeed, the breaker closes. If one fails, the breaker opens again,
///   for a longer pause.
///
/// Use ``admit(now:)`` before and ``record(_:_:now:chance:)`` after each call to the server. Random numbers and times are passed in; times
/// are milliseconds of one clock with any origin. ``SharedCircuitBreaker`` is the breaker that all instances of a service share.
public struct CircuitBreaker: Sendable {
  /// The rule for opening the breaker, and the length of its pauses.
  public struct Rule: Sendable, Hashable {
    /// The length in milliseconds of the window over which results are counted.
    public var window: Int64
    /// The least number of calls within the window with which the breaker opens.
    public var minCalls: Int
    /// The ratio of failed calls at which the breaker opens, more than 0 and at most 1.
    public var failureShare: Double
    /// The first pause in milliseconds. Each further pause is twice as long as the one before it, up to ``maxPause``.
    public var firstPause: Int64
    /// The longest pause in milliseconds.
    public var maxPause: Int64
    /// The greatest part of a pause by which it is shortened at random, from 0 to 1, so that the instances of a service do not probe at the
    /// same time.
    public var jitter: Double
    /// The number of probes that must succeed before the breaker closes. It is also the greatest number of probes in flight.
    public var probes: Int
    /// The time in milliseconds after which a probe without a result no longer counts as in flight.
    public var probeTimeout: Int64

    public init(
      window: Int64 = 20_000, minCalls: Int = 10, failureShare: Double = 0.5, firstPause: Int64 = 2000,
      maxPause: Int64 = 60_000, jitter: Double = 0.25, probes: Int = 1, probeTimeout: Int64 = 30_000
    ) {
      self.window = max(window, Int64(CircuitBreaker.slotCount))
      self.minCalls = max(minCalls, 1)
      self.failureShare = min(max(failureShare, 0.01), 1)
      self.firstPause = max(firstPause, 1)
      self.maxPause = max(maxPause, self.firstPause)
      self.jitter = min(max(jitter, 0), 1)
      self.probes = max(probes, 1)
      self.probeTimeout = max(probeTimeout, 1)
    }
  }

  /// The permission for one call. ``CircuitBreaker/record(_:_:now:chance:)`` needs it.
  public struct Permit: Sendable, Hashable {
    fileprivate let period: UInt64
    fileprivate let number: UInt64
    /// True if the call is a probe.
    public let isProbe: Bool
  }

  /// The decision about a call.
  public enum Admission: Sendable, Hashable {
    case call(Permit)
    /// The call must not be made now. The caller may try again after that many milliseconds, at least 1.
    case wait(Int64)
  }

  /// The result of a call.
  public enum Result: Sendable, Hashable {
    case succeeded, failed
    /// The call says nothing about the server, for example because it was cancelled.
    case abandoned
  }

  /// The state of the breaker.
  public enum Phase: String, Sendable, Hashable, CaseIterable { case closed, open, halfOpen }

  /// The results in one part of the window.
  private struct Slot {
    var start: Int64
    var calls = 0
    var failures = 0
  }

  /// The number of parts of the window. The window moves by one part at a time.
  static let slotCount = 20

  public let rule: Rule
  public private(set) var phase = Phase.closed
  /// The number of the current phase. It grows with each change of phase. Results of calls that were admitted in an earlier phase do not
  /// count.
  private var period: UInt64 = 0
  /// The number of the last permit.
  private var lastNumber: UInt64 = 0
  private var slots: [Slot] = []
  /// The end of the pause.
  private var openUntil: Int64 = 0
  /// The length of the last pause.
  private var pause: Int64
  /// The probes in flight by the numbers of their permits, with the time at which each times out.
  private var probes: [UInt64: Int64] = [:]
  private var probesSucceeded = 0

  public init(_ rule: Rule = Rule()) {
    self.rule = rule
    pause = rule.firstPause
  }

  /// The longest wait in milliseconds for which callers are told to wait while probes are in flight.
  static let probeCheckInterval: Int64 = 250

  /// Decides whether one call may be made now. If so, the caller must record the call's result by ``record(_:_:now:chance:)``.
  public mutating func admit(now: Int64) -> Admission {
    switch phase {
    case .closed:
      lastNumber += 1
      return .call(Permit(period: period, number: lastNumber, isProbe: false))
    case .open:
      guard now >= openUntil else { return .wait(openUntil - now) }
      change(to: .halfOpen)
      probes = [:]
      probesSucceeded = 0
      return probe(now)
    case .halfOpen:
      // A probe that times out was perhaps lost with its caller, which says nothing about the server.
      probes = probes.filter { $0.value > now }
      guard probes.count + probesSucceeded < rule.probes else {
        // The wait is short, because a probe may end at any time.
        return .wait(min(Self.probeCheckInterval, rule.probeTimeout))
      }
      return probe(now)
    }
  }

  /// Records the result of a call.
  ///
  /// - Parameter chance: a random number from 0 up to 1, for the jitter of a pause that begins now.
  public mutating func record(_ permit: Permit, _ result: Result, now: Int64, chance: Double = 0) {
    guard permit.period == period else { return }
    switch phase {
    case .open: return
    case .halfOpen:
      guard probes.removeValue(forKey: permit.number) != nil else { return }
      switch result {
      case .abandoned: return
      case .failed: open(now, longer: true, chance)
      case .succeeded:
        probesSucceeded += 1
        guard probesSucceeded >= rule.probes else { return }
        change(to: .closed)
        pause = rule.firstPause
        slots = []
      }
    case .closed:
      guard result != .abandoned else { return }
      count(failed: result == .failed, now)
      // A success never opens the breaker, even if the number of calls reaches `minCalls` with it.
      guard result == .failed else { return }
      let calls = slots.reduce(0) { $0 + $1.calls }
      let failures = slots.reduce(0) { $0 + $1.failures }
      guard calls >= rule.minCalls, Double(failures) >= rule.failureShare * Double(calls) else { return }
      open(now, longer: false, chance)
    }
  }

  /// Admits a probe.
  private mutating func probe(_ now: Int64) -> Admission {
    lastNumber += 1
    probes[lastNumber] = now + rule.probeTimeout
    return .call(Permit(period: period, number: lastNumber, isProbe: true))
  }

  private mutating func open(_ now: Int64, longer: Bool, _ chance: Double) {
    change(to: .open)
    pause = longer ? min(pause * 2, rule.maxPause) : rule.firstPause
    openUntil = now + max(1, pause - Int64(Double(pause) * rule.jitter * min(max(chance, 0), 1)))
  }

  private mutating func change(to phase: Phase) {
    self.phase = phase
    period += 1
  }

  private mutating func count(failed: Bool, _ now: Int64) {
    let width = rule.window / Int64(Self.slotCount)
    let start = now - ((now % width) + width) % width
    slots.removeAll { $0.start <= now - rule.window }
    if slots.last?.start != start { slots.append(Slot(start: start)) }
    slots[slots.count - 1].calls += 1
    if failed { slots[slots.count - 1].failures += 1 }
  }
}
