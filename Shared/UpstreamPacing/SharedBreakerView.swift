/// An instance's view of a shared breaker: what it knows, and its next step.
///
/// While Redis gives no answer it goes by a breaker of its own, which saw the same results. Pure: times are milliseconds of a clock that
/// only goes forward, and passed in; chance too.
struct SharedBreakerView: Sendable {
  /// How the shared breaker stands, as Redis says it.
  struct Standing: Sendable, Hashable {
    var phase: CircuitBreaker.Phase
    /// Changes with each change of phase.
    var period: Int64
    /// Until it may be probed, milliseconds.
    var wait: Int64
  }

  /// Results that Redis does not know yet, all of calls of one period.
  struct Report: Sendable, Hashable {
    var period: Int64
    var succeeded: Int
    var failed: Int
  }

  /// What is to be done before a call.
  enum Step: Sendable, Hashable {
    case call(SharedCircuitBreaker.Ticket)
    /// Milliseconds.
    case wait(Int64)
    /// Redis must say how the breaker stands, and is told what is not reported.
    case report
    /// Redis must say whether this call may find out if the server is back.
    case probe
  }

  /// How old what is known may be while calls are made, milliseconds.
  static let freshness: Int64 = 250

  /// How often the breaker was seen to close.
  private(set) var closings = 0
  /// Whether Redis gave no answer the last time.
  private(set) var isAlone = false
  private var standing = Standing(phase: .closed, period: 0, wait: 0)
  private var own: CircuitBreaker
  /// When Redis is to be asked again: how the breaker stands, or for leave to probe.
  private var askAt: Int64 = .min
  private var isAsking = false
  private var succeeded = 0
  private var failed = 0

  init(_ rule: CircuitBreaker.Rule) { own = CircuitBreaker(rule) }

  var phase: CircuitBreaker.Phase { isAlone ? own.phase : standing.phase }

  /// What is to be done before a call now.
  mutating func next(now: Int64) -> Step {
    let isDue = now >= askAt && !isAsking
    if isAlone {
      guard !isDue else { return .report }
      switch own.admit(now: now) {
      case .call(let ticket): return .call(SharedCircuitBreaker.Ticket(.own(ticket)))
      case .wait(let wait): return .wait(wait)
      }
    }
    if standing.phase == .closed { return isDue ? .report : .call(SharedCircuitBreaker.Ticket(.closed(standing.period))) }
    guard !isDue else { return .probe }
    return .wait(isAsking ? Self.freshness : askAt - now)
  }

  /// Leave for a call, by what is known: nil while the breaker is not closed.
  mutating func ticket(now: Int64) -> SharedCircuitBreaker.Ticket? {
    guard phase == .closed else { return nil }
    guard isAlone else { return SharedCircuitBreaker.Ticket(.closed(standing.period)) }
    guard case .call(let ticket) = own.admit(now: now) else { return nil }
    return SharedCircuitBreaker.Ticket(.own(ticket))
  }

  /// Whether anything can have changed that nobody here has asked about.
  func isStale(now: Int64) -> Bool { now >= askAt && !isAsking }

  /// What became of a call that was let through by a breaker that is closed, or by this instance's own. Whether Redis is to be told at
  /// once: failures are, so that all instances notice them together.
  mutating func record(
    _ ticket: SharedCircuitBreaker.Ticket, _ result: CircuitBreaker.Result, now: Int64, chance: Double
  ) -> Bool {
    switch ticket.origin {
    case .probe: return false
    case .own(let ticket):
      let before = own.phase
      own.record(ticket, result, now: now, chance: chance)
      if isAlone, before != .closed, own.phase == .closed { closings += 1 }
      return false
    case .closed(let period):
      if own.phase == .closed, case .call(let ticket) = own.admit(now: now) {
        own.record(ticket, result, now: now, chance: chance)
      }
      guard period == standing.period, standing.phase == .closed else { return false }
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

  /// Begins a question to Redis with what it does not know yet; nil while another one is under way.
  mutating func beginReport() -> Report? {
    guard !isAsking else { return nil }
    isAsking = true
    defer { (succeeded, failed) = (0, 0) }
    return Report(period: standing.period, succeeded: succeeded, failed: failed)
  }

  /// Begins to ask for leave to probe; false while another question is under way.
  mutating func beginProbe() -> Bool {
    guard !isAsking else { return false }
    isAsking = true
    return true
  }

  /// Whether failures came while Redis was asked.
  var hasFailures: Bool { failed > 0 && !isAlone }

  /// The end of a question.
  ///
  /// - Parameter standing: nil when Redis gave no answer.
  mutating func endQuestion(_ standing: Standing?, now: Int64) {
    isAsking = false
    guard let standing else {
      isAlone = true
      askAt = now + Self.freshness
      return
    }
    learn(standing, now: now)
  }

  /// Takes in what Redis said of the breaker beside a question.
  mutating func learn(_ found: Standing, now: Int64) {
    let wasClosed = phase == .closed && standing.period == found.period
    if found.period != standing.period { (succeeded, failed) = (0, 0) }
    isAlone = false
    standing = found
    switch found.phase {
    case .closed:
      askAt = now + Self.freshness
      if !wasClosed { closings += 1 }
    case .halfOpen: askAt = now + min(CircuitBreaker.probeLook, own.rule.probePatience)
    case .open: askAt = now + found.wait
    }
  }
}
