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
