import Testing
import UpstreamPacing

@Suite struct UpstreamRetrySetTests {
  private func after(failures: [(String, Int64)], bound: Int = 100) -> UpstreamRetrySet<String> {
    var stranded = UpstreamRetrySet<String>(calm: 5000, bound: bound)
    for (name, time) in failures { stranded.add(name, now: time) }
    return stranded
  }

  @Test func `A circuit that closes frees all`() {
    var stranded = after(failures: [("a", 0), ("b", 10)])
    let freed = stranded.succeeded(closesCircuit: true, now: 11)
    #expect(freed == ["a", "b"])
    #expect(stranded.isEmpty)
  }

  @Test func `A success frees all when none has failed for a while, and not before`() {
    var stranded = after(failures: [("a", 0), ("b", 1000)])
    let before = stranded.succeeded(closesCircuit: false, now: 5999)
    #expect(before.isEmpty && !stranded.isEmpty)
    let freed = stranded.succeeded(closesCircuit: false, now: 6000)
    #expect(freed == ["a", "b"])
    let nothing = stranded.succeeded(closesCircuit: false, now: 7000)
    #expect(nothing.isEmpty)
  }

  @Test func `Where nobody calls, the youngest is tried, one at a time`() {
    var stranded = after(failures: [("a", 0), ("b", 1)])
    let times: [Int64] = [5000, 5001, 5002, 10_000, 10_001, 20_000]
    let tried = times.map { stranded.trial(now: $0) }
    #expect(tried == [nil, "b", nil, nil, "a", nil])
  }

  @Test func `One that fails again is remembered once, as the youngest`() {
    var stranded = after(failures: [("a", 0), ("b", 1), ("a", 2)])
    let freed = stranded.succeeded(closesCircuit: true, now: 3)
    #expect(freed == ["b", "a"])
  }

  @Test func `The oldest are left to their schedules beyond the bound`() {
    var stranded = after(failures: (0..<21).map { ("\($0)", Int64($0)) }, bound: 20)
    let freed = stranded.succeeded(closesCircuit: true, now: 100)
    #expect(freed == (2..<21).map { "\($0)" })
  }
}
