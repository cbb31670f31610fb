import Testing

@testable import ServiceRuntime

@Suite struct DependencyOutageTests {
  private let start = ContinuousClock.now

  private func isAway(_ absence: inout DependencyOutage, _ answered: Bool, _ now: ContinuousClock.Instant) -> Bool {
    absence.isAway(answered: answered, now: now)
  }

  @Test func `A dependency that never answered counts as unavailable`() {
    var absence = DependencyOutage(tolerance: .seconds(3))
    #expect(isAway(&absence, false, start) == true)
  }

  @Test func `A dependency counts as unavailable when its last answer is older than the tolerance`() {
    var absence = DependencyOutage(tolerance: .seconds(3))
    #expect(isAway(&absence, true, start) == false)
    #expect(isAway(&absence, false, start + .milliseconds(2999)) == false)
    #expect(isAway(&absence, false, start + .seconds(3)) == true)
    #expect(isAway(&absence, true, start + .seconds(4)) == false)
    #expect(isAway(&absence, false, start + .milliseconds(6999)) == false)
    #expect(isAway(&absence, false, start + .seconds(7)) == true)
  }

  @Test func `Without tolerance, one unanswered query is enough`() {
    var absence = DependencyOutage(tolerance: .zero)
    #expect(isAway(&absence, true, start) == false)
    #expect(isAway(&absence, false, start) == true)
  }
}
