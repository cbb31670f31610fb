import Testing

@testable import ServiceRuntime

@Suite struct DependencyOutageTests {
  private let start = ContinuousClock.now

  private func isUnavailable(_ absence: inout DependencyOutage, _ answered: Bool, _ now: ContinuousClock.Instant) -> Bool {
    absence.isUnavailable(answered: answered, now: now)
  }

  @Test func `A dependency that never answered counts as unavailable`() {
    var absence = DependencyOutage(tolerance: .seconds(3))
    #expect(isUnavailable(&absence, false, start) == true)
  }

  @Test func `A dependency counts as unavailable when its last answer is older than the tolerance`() {
    var absence = DependencyOutage(tolerance: .seconds(3))
    #expect(isUnavailable(&absence, true, start) == false)
    #expect(isUnavailable(&absence, false, start + .milliseconds(2999)) == false)
    #expect(isUnavailable(&absence, false, start + .seconds(3)) == true)
    #expect(isUnavailable(&absence, true, start + .seconds(4)) == false)
    #expect(isUnavailable(&absence, false, start + .milliseconds(6999)) == false)
    #expect(isUnavailable(&absence, false, start + .seconds(7)) == true)
  }

  @Test func `Without tolerance, one unanswered query is enough`() {
    var absence = DependencyOutage(tolerance: .zero)
    #expect(isUnavailable(&absence, true, start) == false)
    #expect(isUnavailable(&absence, false, start) == true)
  }
}
