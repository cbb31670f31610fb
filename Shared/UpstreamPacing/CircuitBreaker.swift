/// Stops calls to a server that mostly fails, and probes with single calls whether it has recovered.
///
/// Closed: every call may be made, and each result is counted over a window. Open: none may. Half open, when the pause is over: a few
/// probes at a time, which close it when enough of them succeed and open it again, for longer, when one fails.
///
/// Pure: times are milliseconds of one clock, whose origin does not matter, and are passed in; chance too.
public struct CircuitBreaker: Sendable {
  /// When it opens and for how long.
  public struct Rule: Sendable, Hashable {
    /// How far back calls are looked at, milliseconds.
    public var window: Int64
    /// Fewer calls than this within the window say nothing.
    public var leastCalls: Int
    /// The share of failed calls at which it opens, above 0 up to 1.
    public var failureShare: Double
    /// How long it stays open at first, milliseconds; twice as long each time after that, up to ``longestPause``.
    public var firstPause: Int64
    public var longestPause: Int64
    /// By what share of a pause it may end sooner, so that the instances of a service do not probe together: 0 to 1.
    public var jitter: Double
    /// Probes that must succeed before it closes; as many may be under way at once.
    public var probes: Int
    /// A probe of which nothing was heard for so long makes room for another one, milliseconds.
    public var probePatience: Int64

    public init(
      window: Int64 = 20_000, leastCalls: Int = 10, failureShare: Double = 0.5, firstPause: Int64 = 2000,
      longestPause: Int64 = 60_000, jitter: Double = 0.25, probes: Int = 1, probePatience: Int64 = 30_000
    ) {
      self.window = max(window, Int64(CircuitBreaker.slotCount))
      self.leastCalls = max(leastCalls, 1)
      self.failureShare = min(max(failureShare, 0.01), 1)
      self.firstPause = max(firstPause, 1)
      self.longestPause = max(longestPause, self.firstPause)
      self.jitter = min(max(jitter, 0), 1)
      self.probes = max(probes, 1)
      self.probePatience = max(probePatience, 1)
    }
  }

  /// Belongs to one call that was let through; its result is told with it.
  public struct Ticket: Sendable, Hashable {
    fileprivate let period: UInt64
    fileprivate let number: UInt64
    /// Whether the call finds out if the server is back.
    public let isProbe: Bool
  }

  /// Whether a call may be made.
  public enum Admission: Sendable, Hashable {
    case call(Ticket)
    /// Not now; ask again after so many milliseconds, at least 1.
    case wait(Int64)
  }

  /// What became of a call.
  public enum Result: Sendable, Hashable {
    case succeeded, failed
    /// It says nothing about the server, such as a call that was cancelled.
    case abandoned
  }

  /// What it does now.
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
  /// Changes with each change of phase, so that a call that began before says nothing about what came after.
  private var period: UInt64 = 0
  private var numbers: UInt64 = 0
  private var slots: [Slot] = []
  private var openUntil: Int64 = 0
  private var pause: Int64
  /// Probes under way by when each is given up.
  private var probes: [UInt64: Int64] = [:]
  private var probesSucceeded = 0

  public init(_ rule: Rule = Rule()) {
    self.rule = rule
    pause = rule.firstPause
  }

  /// How soon it is looked again whether the probes that are under way have ended, milliseconds.
  static let probeLook: Int64 = 250

  /// Asks for leave to make one call. Whoever gets it tells the result by ``record(_:_:now:chance:)``.
  public mutating func admit(now: Int64) -> Admission {
    switch phase {
    case .closed:
      numbers += 1
      return .call(Ticket(period: period, number: numbers, isProbe: false))
    case .open:
      guard now >= openUntil else { return .wait(openUntil - now) }
      change(to: .halfOpen)
      probes = [:]
      probesSucceeded = 0
      return probe(now)
    case .halfOpen:
      // Whoever made a silent one may have died, which says nothing about the server.
      probes = probes.filter { $0.value > now }
      guard probes.count + probesSucceeded < rule.probes else {
        // Looked at again before long: the probe's answer decides for all.
        return .wait(min(Self.probeLook, rule.probePatience))
      }
      return probe(now)
    }
  }

  /// Takes in what became of a call.
  ///
  /// - Parameter chance: from 0 up to 1, for the jitter of the pause that may begin here.
  public mutating func record(_ ticket: Ticket, _ result: Result, now: Int64, chance: Double = 0) {
    guard ticket.period == period else { return }
    switch phase {
    case .open: return
    case .halfOpen:
      guard probes.removeValue(forKey: ticket.number) != nil else { return }
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
      // A success never opens it, though with it there are calls enough.
      guard result == .failed else { return }
      let calls = slots.reduce(0) { $0 + $1.calls }
      let failures = slots.reduce(0) { $0 + $1.failures }
      guard calls >= rule.leastCalls, Double(failures) >= rule.failureShare * Double(calls) else { return }
      open(now, longer: false, chance)
    }
  }

  private mutating func probe(_ now: Int64) -> Admission {
    numbers += 1
    probes[numbers] = now + rule.probePatience
    return .call(Ticket(period: period, number: numbers, isProbe: true))
  }

  private mutating func open(_ now: Int64, longer: Bool, _ chance: Double) {
    change(to: .open)
    pause = longer ? min(pause * 2, rule.longestPause) : rule.firstPause
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
