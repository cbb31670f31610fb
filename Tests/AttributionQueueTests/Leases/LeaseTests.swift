import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct LeaseTests {
  @Test func `A worker whose lease was taken over can settle nothing`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a"))
      let stale = try #require(try await queue.leaseAll("one").first)
      let held = try #require(try await queue.reclaimAll("two").first)
      #expect(held.deliveryCount == 2)
      await #expect(throws: QueueError.leaseLost) { try await queue.complete(stale, verified("a")) }
      await #expect(throws: QueueError.leaseLost) { try await queue.retry(stale, after: .zero, error: "x") }
      await #expect(throws: QueueError.leaseLost) { try await queue.deadLetter(stale, error: "x") }
      await #expect(throws: QueueError.leaseLost) { try await queue.release(stale) }
      await #expect(throws: QueueError.leaseLost) { try await queue.renew(stale) }
      #expect(try await queue.allEvents().isEmpty)
      try await queue.renew(held)
      #expect(try await queue.complete(held, verified("a")) == .completed)
      await #expect(throws: QueueError.leaseLost) { try await queue.complete(held, verified("a")) }
      #expect(try await queue.allEvents() == ["e-a"])
    }
  }

  @Test func `An earlier lease of the same worker is stale after it reclaimed the message`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a"))
      let stale = try #require(try await queue.leaseAll("one").first)
      _ = try await queue.reclaimAll("one")
      await #expect(throws: QueueError.leaseLost) { try await queue.complete(stale, verified("a")) }
    }
  }

  @Test func `A worker whose lease was taken over cannot replace the record that its successor wrote with the outcome`() async throws {
    try await withQueue { queue, _ in
      func record(_ text: String) -> OwnRecord {
        OwnRecord(service: "tests", name: "record", value: Array(text.utf8), ttl: .seconds(60))
      }
      let id = try await queue.accept(request("a", queue: .tokens)).id
      let key = RedisArgument.string(Keys.own("tests", "record", id.shard))
      func stored() async throws -> String? { try await queue.send(["GET", key]).string }
      let stale = try #require(try await queue.takeAll("one", .tokens, limit: 1).first)
      #expect(try await queue.keep(record("first call"), while: stale))
      #expect(try await stored() == "first call")
      let ttl = try #require(try await queue.send(["TTL", key]).integer)
      #expect((1...60).contains(ttl))

      let held = try #require(try await queue.reclaimAll("two", .tokens).first)
      #expect(try await !queue.keep(record("suspended"), while: stale))
      #expect(try await stored() == "first call")
      var completion = verified("a")
      completion.ownRecord = record("decided")
      #expect(try await queue.complete(held, completion) == .completed)
      // Neither worker has the lease now.
      for lease in [stale, held] { #expect(try await !queue.keep(record("late"), while: lease)) }
      #expect(try await stored() == "decided")
    }
  }

  @Test func `Messages of one order key are processed in order`() async throws {
    try await withQueue { queue, _ in
      for index in 0..<60 { _ = try await queue.accept(request("a\(index)", order: "one")) }
      let seen = Recorder()
      try await queue.working(handler: { lease in
        await seen.add(lease.message.attributes["natural"] ?? "")
        return .complete(Completion(state: .done, events: []))
      }) {
        try await eventually("all are worked") { await seen.all.count == 60 }
      }
      #expect(await seen.all == (0..<60).map { "a\($0)" })
    }
  }
}

actor Recorder {
  private(set) var all: [String] = []
  func add(_ text: String) { all.append(text) }
}
