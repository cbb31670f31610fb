import Testing
import UpstreamPacing

@Suite struct UpstreamRetrySetTests {
  private func after(failures: [(String, Int64)], maxElements: Int = 100) -> UpstreamRetrySet<String> {
    var waitingRetries = UpstreamRetrySet<String>(quietPeriod: 5000, maxElements: maxElements)
    for (name, time) in failures { waitingRetries.add(name, now: time) }
    return waitingRetries
  }

  @Test func `All messages are released when the circuit closes`() {
    var waitingRetries = after(failures: [("a", 0), ("b", 10)])
    let freed = waitingRetries.succeeded(closesCircuit: true, now: 11)
    #expect(freed == ["a", "b"])
    #expect(waitingRetries.isEmpty)
  }

  @Test func `A success releases all messages if there was no failure for a while`() {
    var waitingRetries = after(failures: [("a", 0), ("b", 1000)])
    let before = waitingRetries.succeeded(closesCircuit: false, now: 5999)
    #expect(before.isEmpty && !waitingRetries.isEmpty)
    let freed = waitingRetries.succeeded(closesCircuit: false, now: 6000)
    #expect(freed == ["a", "b"])
    let nothing = waitingRetries.succeeded(closesCircuit: false, now: 7000)
    #expect(nothing.isEmpty)
  }

  @Test func `Without other calls, the newest message is tried, one at a time`() {
    var waitingRetries = after(failures: [("a", 0), ("b", 1)])
    let times: [Int64] = [5000, 5001, 5002, 10_000, 10_001, 20_000]
    let tried = times.map { waitingRetries.popForTrial(now: $0) }
    #expect(tried == [nil, "b", nil, nil, "a", nil])
  }

  @Test func `A message that fails again is stored once, as the newest`() {
    var waitingRetries = after(failures: [("a", 0), ("b", 1), ("a", 2)])
    let freed = waitingRetries.succeeded(closesCircuit: true, now: 3)
    #expect(freed == ["b", "a"])
  }

  @Test func `Beyond the limit, the oldest messages are left to their schedules`() {
    var waitingRetries = after(failures: (0..<21).map { ("\($0)", Int64($0)) }, maxElements: 20)
    let freed = waitingRetries.succeeded(closesCircuit: true, now: 100)
    #expect(freed == (2..<21).map { "\($0)" })
  }
}
