/// Stops calls to a server that mostly fails, and probes with single calls whether it has recovered.
///
/// Closed: every call is admitted, and its result is counted over a window. Open: no call is admitted. Half open, after the pause: a few
/// probes are admitted at a time. Enough successful probes close the breaker; one that fails opens it again, for longer.
///
/// Pure: random numbers and times are passed in; times are milliseconds of one clock with any origin.
public struct CircuitBreaker: Sendable {
  /// The rule for opening the breaker, and the length of its pauses.
  public struct Rule: Sendable, Hashable {
    /// The length of the window over which results are counted, milliseconds.
    public var window: Int64
    /// The breaker does not open with fewer calls than this within the window.
    public var minCalls: Int
    /// The share of failed calls at which the breaker opens, above 0 up to 1.
    public var failureShare: Double
    /// The first pause, milliseconds. Each further pause is twice as long, up to ``maxPause``.
    public var firstPause: Int64
    public var maxPause: Int64
    /// The greatest share by which a pause is shortened at random, from 0 to 1, so that the instances of a service do not probe together.
    public var jitter: Double
    /// The number of probes that must succeed before the breaker closes, and the greatest number under way at once.
    public var probes: Int
    /// A probe without a result for this long no longer counts as under way, milliseconds.
    public var probePatience: Int64

    public init(
      window: Int64 = 20_000, minCalls: Int = 10, failureShare: Double = 0.5, firstPause: Int64 = 2000,
      maxPause: Int64 = 60_000, jitter: Double = 0.25, probes: Int = 1, probePatience: Int64 = 30_000
    ) {
      self.window = max(window, Int64(CircuitBreaker.slotCount))
      self.minCalls = max(minCalls, 1)
      self.failureShare = min(max(failureShare, 0.01), 1)
      self.firstPause = max(firstPause, 1)
      self.maxPause = max(maxPause, self.firstPause)
      self.jitter = min(max(jitter, 0), 1)
      self.probes = max(probes, 1)
      self.probePatience = max(probePatience, 1)
    }
  }

  /// Permission for one call. The call's result is recorded with it.
  public struct Permit: Sendable, Hashable {
    fileprivate let period: UInt64
    fileprivate let number: UInt64
    /// True if the call is a probe.
    public let isProbe: Bool
  }

  /// The decision about a call.
  public enum Admission: Sendable, Hashable {
    case call(Permit)
    /// The call may not be made now; ask again after that many milliseconds, at least 1.
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

  /// Results of one part of the window.
  private struct Slot {
    var start: Int64
    var calls = 0
    var failures = 0
  }

  static let slotCount = 20

  public let rule: Rule
  public private(set) var phase = Phase.closed
  /// The number of the current phase. Results of calls that were admitted in an earlier phase do not count.
  private var period: UInt64 = 0
  private var numbers: UInt64 = 0
  private var slots: [Slot] = []
  private var openUntil: Int64 = 0
  private var pause: Int64
  /// Probes under way, with the time at which each stops counting as such.
  private var probes: [UInt64: Int64] = [:]
  private var probesSucceeded = 0

  public init(_ rule: Rule = Rule()) {
    self.rule = rule
    pause = rule.firstPause
  }

  /// The longest wait before a caller asks again while probes are under way, milliseconds.
  static let probeCheckInterval: Int64 = 250

  /// Asks for permission to make one call. The caller must record its result by ``record(_:_:now:chance:)``.
  public mutating func admit(now: Int64) -> Admission {
    switch phase {
    case .closed:
      numbers += 1
      return .call(Permit(period: period, number: numbers, isProbe: false))
    case .open:
      guard now >= openUntil else { return .wait(openUntil - now) }
      change(to: .halfOpen)
      probes = [:]
      probesSucceeded = 0
      return probe(now)
    case .halfOpen:
      // The instance that made such a probe may have died, which says nothing about the server.
      probes = probes.filter { $0.value > now }
      guard probes.count + probesSucceeded < rule.probes else {
        // The wait is short, because the result of a probe decides for all callers.
        return .wait(min(Self.probeCheckInterval, rule.probePatience))
      }
      return probe(now)
    }
  }

  /// Records the result of a call.
  ///
  /// - Parameter chance: from 0 up to 1, for the jitter of the pause that may begin here.
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
      // A success never opens the breaker, even if it is the call that completes ``Rule/minCalls``.
      guard result == .failed else { return }
      let calls = slots.reduce(0) { $0 + $1.calls }
      let failures = slots.reduce(0) { $0 + $1.failures }
      guard calls >= rule.minCalls, Double(failures) >= rule.failureShare * Double(calls) else { return }
      open(now, longer: false, chance)
    }
  }

  private mutating func probe(_ now: Int64) -> Admission {
    numbers += 1
    probes[numbers] = now + rule.probePatience
    return .call(Permit(period: period, number: numbers, isProbe: true))
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
