import Testing

@testable import RedisClient

/// The next step of a command after each possible result.
@Suite struct RoutedCallTests {
  private let start = ContinuousClock.now
  private let here = NodeAddress(host: "a", port: 1)
  private let there = NodeAddress(host: "b", port: 2)

  private func call() -> RoutedCall { RoutedCall(until: start + .seconds(2)) }

  @Test func `Redirections of a moved slot are followed, at most eight times in a row`() throws {
    var call = call()
    let moved = Redirection.moved(try #require(HashSlot(number: 1)), to: there)
    for _ in 0..<RoutedCall.maxMoves {
      #expect(call.refused(moved, now: start, jitter: 1) == .send(there, asking: false))
    }
    #expect(call.refused(moved, now: start, jitter: 1) == .fail(.unavailable("redirected more than 8 times")))
  }

  @Test func `A key of a migrating slot is requested once from the target node`() {
    var call = call()
    #expect(call.refused(.ask(there), now: start, jitter: 1) == .send(there, asking: true))
    #expect(call.refused(.tryAgain, now: start, jitter: 1) == .pause(.milliseconds(5)))
    #expect(call.refused(.tryAgain, now: start, jitter: 0) == .pause(.milliseconds(5)))
    #expect(call.refused(.ask(there), now: start + .seconds(2), jitter: 1) == .fail(.unavailable("its slot is being moved")))
  }

  @Test func `Pauses double up to a tenth of a second and never exceed the timeout`() {
    var call = call()
    var pauses: [RoutedCall.Step] = []
    for _ in 0..<7 { pauses.append(call.refused(.tryAgain, now: start, jitter: 1)) }
    #expect(pauses == [5, 10, 20, 40, 80, 100, 100].map { .pause(.milliseconds($0)) })
    #expect(call.refused(.tryAgain, now: start + .milliseconds(1990), jitter: 1) == .pause(.milliseconds(10)))
    #expect(call.refused(.tryAgain, now: start + .seconds(2), jitter: 1) == .fail(.unavailable("its slot is being moved")))
  }

  @Test func `During a failover the topology is queried again until the timeout`() {
    var call = call()
    let refusal = Redirection.unsettled("CLUSTERDOWN The cluster is down")
    #expect(call.refused(refusal, now: start, jitter: 1) == .rediscover(then: .milliseconds(5)))
    #expect(call.unsent(.unavailable("refused"), isLong: false, now: start, jitter: 1) == .rediscover(then: .milliseconds(10)))
    #expect(call.unserved(now: start, jitter: 1) == .rediscover(then: .milliseconds(20)))
    #expect(call.refused(refusal, now: start + .seconds(3), jitter: 1) == .fail(.unavailable("CLUSTERDOWN The cluster is down")))
    #expect(call.unserved(now: start + .seconds(3), jitter: 1) == .fail(.unavailable("no node serves this key's slot")))
  }

  @Test func `A node that has been unreachable for long fails its callers immediately`() {
    var call = call()
    #expect(call.unsent(.timedOut, isLong: true, now: start, jitter: 1) == .fail(.timedOut))
  }

  @Test func `A call that waited may be redirected as often again`() throws {
    var call = call()
    let moved = Redirection.moved(try #require(HashSlot(number: 1)), to: there)
    for _ in 0..<RoutedCall.maxMoves { _ = call.refused(moved, now: start, jitter: 1) }
    _ = call.refused(.tryAgain, now: start, jitter: 1)
    #expect(call.refused(moved, now: start, jitter: 1) == .send(there, asking: false))
  }
}
