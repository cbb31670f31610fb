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

  @Test func `The same worker's earlier lease is stale too once it took the message over from itself`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a"))
      let stale = try #require(try await queue.leaseAll("one").first)
      _ = try await queue.reclaimAll("one")
      await #expect(throws: QueueError.leaseLost) { try await queue.complete(stale, verified("a")) }
    }
  }

  @Test func `What a worker that died had leased is taken over and makes exactly one event`() async throws {
    try await withQueue({ $0.lease = .milliseconds(300) }) { queue, _ in
      _ = try await queue.accept(request("a"))
      #expect(try await queue.leaseAll("dead").count == 1)
      try await queue.working(handler: { _ in .complete(verified("a")) }) {
        try await eventually("it is taken over") { try await queue.allEvents() == ["e-a"] }
      }
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).inFlight == 0)
    }
  }

  @Test func `A message whose worker dies each time ends as a dead letter`() async throws {
    try await withQueue({
      $0.maxDeliveries = 3
      $0.lease = .milliseconds(300)
    }) { queue, _ in
      _ = try await queue.accept(request("poison"))
      #expect(try await queue.leaseAll("w").count == 1)
      for _ in 0..<2 { #expect(try await queue.reclaimAll("w").count == 1) }
      let administration = QueueAdministration(deliveries: queue)
      let worked = Recorder()
      try await queue.working(handler: { lease in
        await worked.add(lease.deliveryID.description)
        return .complete(verified("poison"))
      }) {
        try await eventually("it is given up") { try await administration.snapshot(.intake).dead == 1 }
      }
      #expect(await worked.all.isEmpty)
      let letter = try #require(try await administration.deadLetters(.intake, most: 10).first)
      #expect(letter.lastError == "its worker ended 3 times without finishing it")
      // The record says so in the same step.
      #expect(try await queue.delivery(letter.id)?.state == .dead)
      #expect(try await administration.snapshot(.intake).inFlight == 0)
    }
  }

  @Test func `A long handler keeps its lease by renewal`() async throws {
    try await withQueue({ $0.lease = .milliseconds(300) }) { queue, _ in
      _ = try await queue.accept(request("a"))
      let slow: @Sendable (LeasedMessage) async -> WorkOutcome = { _ in
        try? await Task.sleep(for: .milliseconds(1200))
        return .complete(verified("a"))
      }
      try await queue.working(handler: slow) {
        try await queue.working(handler: slow) {
          try await eventually("it is done") { try await queue.allEvents() == ["e-a"] }
        }
      }
      let id = queue.deliveryID(for: request("a"))
      #expect(try await queue.delivery(id)?.attempts == 1)
    }
  }

  @Test func `Messages of one order key are worked in order`() async throws {
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
