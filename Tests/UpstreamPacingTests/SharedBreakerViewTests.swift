import TestSupport
import Testing

@testable import UpstreamPacing

@Suite("An instance's view of a shared breaker")
struct SharedBreakerViewTests {
  private static let rule = CircuitBreaker.Rule(window: 20_000, minCalls: 4, firstPause: 2000, maxPause: 10_000, jitter: 0)

  private func sharedState(_ phase: CircuitBreaker.Phase, _ period: Int64, wait: Int64 = 0) -> SharedBreakerView.SharedState {
    SharedBreakerView.SharedState(phase: phase, period: period, wait: wait)
  }

  /// A view in a class, so that its mutating methods can be called in expectations.
  private final class Instance {
    private var view = SharedBreakerView(SharedBreakerViewTests.rule)

    init() {}

    /// A view that knows this state.
    init(_ state: SharedBreakerView.SharedState, now: Int64 = 0) {
      _ = view.beginReport()
      view.endQuery(state, now: now)
    }

    var phase: CircuitBreaker.Phase { view.phase }
    var closings: Int { view.closings }
    var usesLocalBreaker: Bool { view.usesLocalBreaker }
    var hasFailures: Bool { view.hasFailures }
    func next(now: Int64) -> SharedBreakerView.Step { view.next(now: now) }
    func permit(now: Int64) -> SharedCircuitBreaker.Permit? { view.permit(now: now) }
    func isStale(now: Int64) -> Bool { view.isStale(now: now) }
    func beginReport() -> SharedBreakerView.Report? { view.beginReport() }
    func beginProbe() -> Bool { view.beginProbe() }
    func endQuery(_ state: SharedBreakerView.SharedState?, now: Int64) { view.endQuery(state, now: now) }
    func adopt(_ state: SharedBreakerView.SharedState, now: Int64) { view.adopt(state, now: now) }

    func record(_ permit: SharedCircuitBreaker.Permit, _ result: CircuitBreaker.Result, now: Int64, chance: Double = 0) -> Bool {
      view.record(permit, result, now: now, chance: chance)
    }
  }

  @Test("Redis is queried before the first call, and then once each quarter of a second")
  func freshness() {
    let view = Instance()
    #expect(view.next(now: 0) == .report)
    #expect(view.beginReport() == .init(period: 0, succeeded: 0, failed: 0))
    // Calls do not wait for another caller's query.
    #expect(view.next(now: 1) == .call(.init(.closed(0))))
    #expect(view.beginReport() == nil)
    view.endQuery(sharedState(.closed, 4), now: 10)
    for now: Int64 in 10..<260 { #expect(view.next(now: now) == .call(.init(.closed(4)))) }
    #expect(view.next(now: 260) == .report)
  }

  @Test("successes are reported with the next query, a failure immediately, and results of another period never")
  func results() {
    let view = Instance(sharedState(.closed, 2))
    for _ in 0..<3 { #expect(!view.record(.init(.closed(2)), .succeeded, now: 1)) }
    #expect(!view.record(.init(.closed(2)), .abandoned, now: 1))
    #expect(!view.record(.init(.closed(1)), .failed, now: 1))
    #expect(view.record(.init(.closed(2)), .failed, now: 1))
    #expect(view.beginReport() == .init(period: 2, succeeded: 3, failed: 1))
    // Failures during a query are reported with the next one.
    #expect(view.record(.init(.closed(2)), .failed, now: 2))
    #expect(view.hasFailures)
    view.endQuery(sharedState(.open, 3, wait: 100), now: 3)
    #expect(!view.hasFailures)
    #expect(view.permit(now: 3) == nil)
  }

  @Test("while it is open, Redis is not queried until the pause is over, and then for permission to probe")
  func open() {
    let view = Instance(sharedState(.open, 1, wait: 2000), now: 50)
    #expect(view.next(now: 51) == .wait(1999))
    #expect(!view.isStale(now: 2049))
    #expect(view.next(now: 2050) == .probe)
    #expect(view.beginProbe() && !view.beginProbe())
    #expect(view.next(now: 2051) == .wait(250))
    // Another instance got the permission.
    view.endQuery(sharedState(.halfOpen, 2), now: 2060)
    #expect(view.next(now: 2100) == .wait(210))
    #expect(view.next(now: 2310) == .probe)
  }

  @Test("closing is detected, even if the breaker opened and closed between two queries")
  func closings() {
    let view = Instance(sharedState(.open, 1, wait: 10))
    let before = view.closings
    view.adopt(sharedState(.closed, 3), now: 20)
    #expect(view.closings == before + 1)
    view.adopt(sharedState(.closed, 3), now: 300)
    #expect(view.closings == before + 1)
    view.adopt(sharedState(.closed, 6), now: 600)
    #expect(view.closings == before + 2)
  }

  @Test("without Redis it uses its own results, including earlier ones, and keeps querying Redis")
  func alone() {
    let view = Instance(sharedState(.closed, 0))
    for _ in 0..<3 { _ = view.record(.init(.closed(0)), .failed, now: 1) }
    _ = view.beginReport()
    view.endQuery(nil, now: 10)
    #expect(view.usesLocalBreaker && view.phase == .closed)
    guard case .call(let permit) = view.next(now: 11) else {
      Issue.record("not let through")
      return
    }
    #expect(!view.record(permit, .failed, now: 12))
    #expect(view.phase == .open)
    #expect(view.next(now: 13) == .wait(1999))
    #expect(view.next(now: 260) == .report)
    _ = view.beginReport()
    view.endQuery(nil, now: 2020)
    guard case .call(let probe) = view.next(now: 2021) else {
      Issue.record("no probe")
      return
    }
    #expect(probe.isProbe)
    let before = view.closings
    #expect(!view.record(probe, .succeeded, now: 2022))
    #expect(view.phase == .closed && view.closings == before + 1)
    // Redis is available again, and its state counts.
    _ = view.beginReport()
    view.endQuery(sharedState(.open, 7, wait: 100), now: 2400)
    #expect(!view.usesLocalBreaker && view.phase == .open)
  }

  @Test("for any sequence, no call is made while the shared breaker is known to be open, and no call waits forever")
  func properties() {
    var random = SeededRandom("shared breaker view")
    for _ in 0..<300 {
      let view = Instance()
      var known: SharedBreakerView.SharedState? = sharedState(.closed, 0)
      var now: Int64 = 0
      var permits: [SharedCircuitBreaker.Permit] = []
      for _ in 0..<200 {
        now += .random(in: 0...120, using: &random)
        var reply: SharedBreakerView.SharedState? {
          if Int.random(in: 0..<4, using: &random) == 0 { return nil }
          let phase = CircuitBreaker.Phase.allCases.randomElement(using: &random)!
          return sharedState(phase, .random(in: 0...5, using: &random), wait: .random(in: 0...3000, using: &random))
        }
        switch view.next(now: now) {
        case .call(let permit):
          #expect(known == nil || known?.phase == .closed)
          if let known { #expect(permit == .init(.closed(known.period))) }
          permits.append(permit)
        case .wait(let wait): #expect(wait >= 1 && wait <= max(3000, Self.rule.maxPause))
        case .report:
          #expect(view.beginReport() != nil)
          known = reply
          view.endQuery(known, now: now)
        case .probe:
          #expect(known != nil && known?.phase != .closed)
          #expect(view.beginProbe())
          known = reply
          view.endQuery(known, now: now)
        }
        #expect(view.usesLocalBreaker == (known == nil))
        while let permit = permits.randomElement(using: &random), Bool.random(using: &random) {
          permits.removeAll { $0 == permit }
          let result = [CircuitBreaker.Result.succeeded, .failed, .abandoned].randomElement(using: &random)!
          let tells = view.record(permit, result, now: now, chance: .random(in: 0..<1, using: &random))
          #expect(!tells || (result == .failed && known?.phase == .closed))
        }
      }
    }
  }
}
