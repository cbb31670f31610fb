import AttributionProtocol
import Testing

@testable import AttributionClient

@Suite struct SubscriptionEventsTests {
  private struct TimedOut: Error {
    let what: String
  }

  private func eventually(_ what: String, _ condition: () -> Bool) async throws {
    let until = ContinuousClock.now + .seconds(60)
    while !condition() {
      // Without this error the test could wait forever for later conditions.
      if ContinuousClock.now > until { throw TimedOut(what: what) }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test func `Each event is acknowledged when the next one is requested, and the last one when the reader is cancelled`() async throws {
    let feed = try await FakeFeed(["a", "b", "c"])
    let reading = Task {
      var ids: [String] = []
      for try await received in feed.client.received(from: "s", ReaderOptions(wait: .zero)) {
        ids.append(received.event.id)
        if ids.count == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return ids
    }
    #expect(try await reading.value == ["a", "b", "c"])
    #expect(feed.state.withLock { $0.acknowledged } == ["a", "b", "c"])
    #expect(feed.state.withLock { $0.leased.isEmpty && $0.givenBack.isEmpty })
    await feed.stop()
  }

  @Test func `Leaving the loop gives back unfinished events`() async throws {
    let feed = try await FakeFeed(["a", "b", "c", "d"])
    for try await received in feed.client.received(from: "s", ReaderOptions(wait: .zero)) {
      if received.event.id == "b" {
        received.acknowledge()
        break
      }
    }
    try await eventually("the others are given back") { feed.state.withLock { Set($0.givenBack) == ["c", "d"] } }
    #expect(feed.state.withLock { Set($0.acknowledged) == ["a", "b"] })
    await feed.stop()
  }

  @Test func `An error gives back its event, and is thrown after the other events were settled`() async throws {
    struct Failed: Error {}
    let feed = try await FakeFeed(["a", "b", "c"])
    await #expect(throws: Failed.self) {
      try await feed.client.consume("s", ReaderOptions(wait: .zero)) { received in
        if received.event.id == "b" { throw Failed() }
      }
    }
    #expect(feed.state.withLock { $0.acknowledged } == ["a"])
    #expect(feed.state.withLock { Set($0.givenBack) } == ["b", "c"])
    await feed.stop()
  }

  @Test func `An event that is given back comes again, and others continue`() async throws {
    let feed = try await FakeFeed(["a", "b"])
    var ids: [String] = []
    for try await received in feed.client.received(from: "s", ReaderOptions(held: 1, wait: .zero)) {
      ids.append(received.event.id)
      if ids == ["a"] { received.giveBack() }
      if ids.count == 3 { break }
    }
    #expect(ids == ["a", "b", "a"])
    await feed.stop()
  }

  @Test func `Leases are extended while an event is processed, and after their loss no other event is begun under them`() async throws {
    let feed = try await FakeFeed(["a", "b"])
    var ids: [String] = []
    for try await received in feed.client.received(from: "s", ReaderOptions(lease: .seconds(9), wait: .zero)) {
      ids.append(received.event.id)
      if ids.count == 1 {
        try await eventually("it is extended") { feed.state.withLock { $0.extensions > 0 } }
        feed.state.withLock { $0.losesLeases = true }
        try await eventually("the other is given back") { feed.state.withLock { $0.givenBack.contains("b") } }
      }
      if ids.count == 2 { break }
    }
    #expect(ids == ["a", "b"])
    #expect(feed.state.withLock { $0.pulls } >= 2, "the second came anew")
    await feed.stop()
  }

  @Test func `An unavailable server is retried, and a permanent error ends the sequence`() async throws {
    let away = RPCError(.unavailable, "away")
    let feed = try await FakeFeed(["a"], failures: Array(repeating: away, count: 6) + [RPCError(.unknown, "odd")])
    for try await received in feed.client.received(from: "s", ReaderOptions(wait: .zero)) {
      #expect(received.event.id == "a")
      break
    }
    await feed.stop()
    for code in [RPCCode.notFound, .permissionDenied, .unauthenticated] {
      let refusing = try await FakeFeed([], failures: [RPCError(code, "no")])
      do {
        for try await _ in refusing.client.received(from: "s", ReaderOptions(wait: .zero)) {}
        Issue.record("it ended without an error")
      } catch {
        #expect((error as? RPCError)?.code == code)
      }
      await refusing.stop()
    }
    let odd = try await FakeFeed([], failures: Array(repeating: RPCError(.unknown, "odd"), count: 20))
    await #expect(throws: RPCError.self) { try await odd.client.consume("s", ReaderOptions(wait: .zero)) { _ in } }
    await odd.stop()
    let impatient = ReaderOptions(wait: .zero, patience: .milliseconds(300))
    let never = try await FakeFeed([], failures: Array(repeating: away, count: 1000))
    await #expect(throws: RPCError.self) { try await never.client.consume("s", impatient) { _ in } }
    await never.stop()
  }
}
