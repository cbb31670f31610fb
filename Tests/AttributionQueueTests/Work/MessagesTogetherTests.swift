import Synchronization
import Testing
import Traces

@testable import AttributionQueue

/// Handlers that decide about several messages of a shard in one call.
@Suite struct MessagesTogetherTests {
  private struct Call: Equatable {
    let names: [String]
    let isTraced: Bool
  }

  /// Works messages that were accepted for one order key, and returns the handler's calls.
  private func calls(_ queue: DeliveryQueue, handling messages: Int, pace: ShardWorker.Pace) async throws -> [Call] {
    let calls = Mutex<[Call]>([])
    let worker = ShardWorker(
      queue: .intake, deliveries: queue, pace: pace,
      handlerOfMany: { leases in
        let names = leases.map { $0.message.attributes["natural"] ?? "" }
        calls.withLock { $0.append(Call(names: names, isTraced: Span.current != nil)) }
        return names.map { .complete(verified($0)) }
      })
    let run = Task { await worker.run() }
    try await eventually("all are worked") { calls.withLock { $0.reduce(0) { $0 + $1.names.count } } >= messages }
    try await eventually("all are settled") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
    worker.stop()
    await run.value
    return calls.withLock { $0 }
  }

  private func accept(_ names: [String], _ queue: DeliveryQueue) async throws -> [DeliveryID] {
    var ids: [DeliveryID] = []
    for name in names { ids.append(try await queue.accept(request(name, order: "one")).id) }
    return ids
  }

  @Test func `A shard's messages are handled together in their order, and at most 32 of them`() async throws {
    try await withQueue { queue, _ in
      let names = (0..<70).map { "n\($0)" }
      _ = try await accept(names, queue)
      let calls = try await calls(queue, handling: 70, pace: .computing)
      #expect(calls.map(\.names) == [Array(names[..<32]), Array(names[32..<64]), Array(names[64...])])
      #expect(try await queue.allEvents() == names.map { "e-" + $0 })
    }
  }

  @Test func `A worker that waits for other systems handles each message alone`() async throws {
    try await withQueue { queue, _ in
      _ = try await accept(["a", "b"], queue)
      let calls = try await calls(queue, handling: 2, pace: .waiting(shards: 8))
      #expect(calls.map(\.names) == [["a"], ["b"]])
    }
  }

  @Test func `An entry that cannot be read becomes a dead letter, and messages before and after it keep their order`() async throws {
    try await withQueue { queue, _ in
      let ids = try await accept(["a", "b"], queue)
      try await UnreadableEntryTests.put(["z", "1"], ids[0].shard, queue)
      _ = try await accept(["c", "d"], queue)
      let calls = try await calls(queue, handling: 4, pace: .computing)
      #expect(calls.map(\.names) == [["a", "b", "c", "d"]])
      #expect(try await queue.allEvents() == ["e-a", "e-b", "e-c", "e-d"])
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 1)
    }
  }

  @Test func `Messages whose traces are recorded are handled alone, each within its span`() async throws {
    try await withQueue { untraced, server in
      let client = try await server.client()
      let tracer = Tracer(sampler: Sampler(ratio: 1), buffer: SpanBuffer(capacity: 100, batch: 100))
      let queue = try await DeliveryQueue.open(redis: client, configuration: untraced.configuration, tracer: tracer, logger: quietLogger)
      for name in ["a", "b", "c"] {
        var request = request(name, order: "one")
        request.message.traceparent = name == "b" ? nil : "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        _ = try await queue.accept(request)
      }
      let calls = try await calls(queue, handling: 3, pace: .computing)
      #expect(calls == ["a", "b", "c"].map { Call(names: [$0], isTraced: $0 != "b") })
      #expect(try await queue.allEvents() == ["e-a", "e-b", "e-c"])
      client.close()
    }
  }
}
