import Synchronization
import Testing
import Traces

@testable import AttributionQueue

/// Messages of a shard that follow one another and are handled in one call.
@Suite struct MessagesTogetherTests {
  private struct Call: Equatable {
    let names: [String]
    var isTogether = false
    var isTraced = false
  }

  /// Records the calls of both handlers of a worker. Messages whose names begin with `x` may not be handled together.
  private final class Recorder: Sendable {
    private let recorded = Mutex<[Call]>([])

    var calls: [Call] { recorded.withLock { $0 } }
    var count: Int { calls.reduce(0) { $0 + $1.names.count } }

    func worker(_ queue: DeliveryQueue, pace: ShardWorker.Pace = .computing) -> ShardWorker {
      let joint = ShardWorker.BatchHandler(
        accepts: { !Self.name($0).hasPrefix("x") },
        outcomes: { messages in
          self.recorded.withLock { $0.append(Call(names: messages.map(Self.name), isTogether: true, isTraced: Span.current != nil)) }
          return messages.map { .complete(verified(Self.name($0))) }
        })
      return ShardWorker(queue: .intake, deliveries: queue, pace: pace, batchHandler: joint) { message in
        self.recorded.withLock { $0.append(Call(names: [Self.name(message)], isTraced: Span.current != nil)) }
        return .complete(verified(Self.name(message)))
      }
    }

    /// Works messages that were accepted, and returns the calls.
    func calls(_ queue: DeliveryQueue, handling messages: Int, pace: ShardWorker.Pace = .computing) async throws -> [Call] {
      let worker = worker(queue, pace: pace)
      let run = Task { await worker.run() }
      try await eventually("all are worked") { count >= messages }
      try await eventually("all are settled") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      worker.stop()
      await run.value
      return calls
    }

    private static func name(_ message: LeasedMessage) -> String { message.message.attributes["natural"] ?? "" }
  }

  private func accept(_ names: [String], _ queue: DeliveryQueue) async throws -> Shard {
    var shard = Shard(0)
    for name in names { shard = try await queue.accept(request(name, order: "one")).id.shard }
    return shard
  }

  @Test func `A shard's messages are handled together in their order, and at most 32 of them`() async throws {
    try await withQueue { queue, _ in
      let names = (0..<70).map { "n\($0)" }
      _ = try await accept(names, queue)
      let calls = try await Recorder().calls(queue, handling: 70)
      #expect(calls == [names[..<32], names[32..<64], names[64...]].map { Call(names: Array($0), isTogether: true) })
      #expect(try await queue.allEvents() == names.map { "e-" + $0 })
    }
  }

  @Test func `Messages between which another one must be handled are not handled together`() async throws {
    try await withQueue { queue, _ in
      let names = ["a", "b", "x1", "x2", "c", "x3", "d", "e", "f"]
      _ = try await accept(names, queue)
      let calls = try await Recorder().calls(queue, handling: names.count)
      #expect(
        calls == [
          Call(names: ["a", "b"], isTogether: true), Call(names: ["x1"]), Call(names: ["x2"]), Call(names: ["c"]), Call(names: ["x3"]),
          Call(names: ["d", "e", "f"], isTogether: true),
        ])
      #expect(try await queue.allEvents() == names.map { "e-" + $0 })
    }
  }

  /// A handler that reads the history of a purchase must see what earlier messages of its batch wrote.
  @Test func `A message is handled after the earlier ones of its batch were applied`() async throws {
    try await withQueue { queue, _ in
      let steps = Mutex<[String]>([])
      for name in ["a", "b", "c"] { _ = try await queue.accept(request(name, order: "one", keepsOrder: name != "b")) }
      let joint = ShardWorker.BatchHandler(accepts: { _ in false }, outcomes: { _ in [] })
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing, batchHandler: joint) { message in
        let name = message.message.attributes["natural"] ?? ""
        steps.withLock { $0.append("handle \(name)") }
        guard name != "b" else { return .complete(verified(name)) }
        return .inOrder {
          steps.withLock { $0.append("apply \(name)") }
          return .complete(verified(name))
        }
      }
      let run = Task { await worker.run() }
      try await eventually("all are worked") { try await queue.allEvents().count == 3 }
      worker.stop()
      await run.value
      #expect(steps.withLock { $0 } == ["handle a", "apply a", "handle b", "handle c", "apply c"])
    }
  }

  @Test func `A worker that waits for other systems handles each message alone`() async throws {
    try await withQueue { queue, _ in
      _ = try await accept(["a", "b"], queue)
      let calls = try await Recorder().calls(queue, handling: 2, pace: .waiting(shards: 8))
      #expect(calls == [Call(names: ["a"]), Call(names: ["b"])])
    }
  }

  @Test func `An entry that cannot be read becomes a dead letter, and messages before and after it keep their order`() async throws {
    try await withQueue { queue, _ in
      let shard = try await accept(["a", "b"], queue)
      try await UnreadableEntryTests.put(["z", "1"], shard, queue)
      _ = try await accept(["c", "d"], queue)
      let calls = try await Recorder().calls(queue, handling: 4)
      #expect(calls == [Call(names: ["a", "b"], isTogether: true), Call(names: ["c", "d"], isTogether: true)])
      #expect(try await queue.allEvents() == ["e-a", "e-b", "e-c", "e-d"])
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 1)
    }
  }

  @Test func `A message whose trace is recorded is handled alone within its span`() async throws {
    try await withQueue { untraced, server in
      let client = try await server.client()
      let tracer = Tracer(sampler: Sampler(ratio: 1), buffer: SpanBuffer(capacity: 100, maxBatchSize: 100))
      let queue = try await DeliveryQueue.open(redis: client, configuration: untraced.configuration, tracer: tracer, logger: quietLogger)
      for name in ["a", "b", "c", "d"] {
        var request = request(name, order: "one")
        request.message.traceparent = name == "a" ? "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" : nil
        _ = try await queue.accept(request)
      }
      let calls = try await Recorder().calls(queue, handling: 4)
      #expect(calls == [Call(names: ["a"], isTraced: true), Call(names: ["b", "c", "d"], isTogether: true)])
      #expect(try await queue.allEvents() == ["e-a", "e-b", "e-c", "e-d"])
      client.close()
    }
  }

  @Test func `A message on which a worker may have crashed is handled and settled alone`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b", "c", "d"])
      let recorder = Recorder()
      let worker = recorder.worker(queue)
      let shard = WorkerShard(owned.shard)
      let suspected = try #require(EntryID(owned.messages[1].entryID))
      shard.own(owned.ownership, suspectedUntil: suspected)
      let loop = await ShardWorker.WorkerLoop(nil, shards: 1)
      let beginning = EntryID(milliseconds: 0, number: 0)
      for expected in [["a"], ["b"], ["c", "d"]] {
        let read = try await worker.entries(of: owned.shard, after: beginning)
        let batch = try await worker.handle(read, shard, owned.ownership, loop)
        #expect(batch.entries.map { $0.message?.message.attributes["natural"] } == expected)
        _ = try await worker.settle(batch, shard, owned.ownership, loop, readsOn: false)
      }
      #expect(recorder.calls == [Call(names: ["a"]), Call(names: ["b"]), Call(names: ["c", "d"], isTogether: true)])
    }
  }

  @Test func `A worker that stops counts no start of a message that it will not handle`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let recorder = Recorder()
      let worker = recorder.worker(queue)
      let shard = WorkerShard(owned.shard)
      shard.own(owned.ownership, suspectedUntil: EntryID(owned.messages[1].entryID))
      let loop = await ShardWorker.WorkerLoop(nil, shards: 1)
      let read = try await worker.entries(of: owned.shard, after: EntryID(milliseconds: 0, number: 0))
      worker.stop()
      #expect(try await worker.handle(read, shard, owned.ownership, loop).isEmpty)
      #expect(recorder.calls.isEmpty)
      #expect(try await queue.send(["EXISTS", .string(Keys.suspects(.intake, owned.shard))]).integer == 0)
    }
  }

  @Test func `Of messages with one natural key that are handled together, the first counts`() async throws {
    try await withQueue { queue, _ in
      for (name, copy) in [("a", "1"), ("b", ""), ("a", "2"), ("c", ""), ("b", "2")] {
        _ = try await queue.accept(request(name, copy: copy, order: "one"))
      }
      let calls = try await Recorder().calls(queue, handling: 5)
      #expect(calls == [Call(names: ["a", "b", "a", "c", "b"], isTogether: true)])
      #expect(try await queue.allEvents() == ["e-a", "e-b", "e-c"])
    }
  }

  @Test func `Leased messages are handled together too`() async throws {
    try await withQueue { queue, _ in
      try await FormSwitchTests.set(.leased, queue)
      let names = (0..<40).map { "n\($0)" }
      _ = try await accept(names, queue)
      let calls = try await Recorder().calls(queue, handling: 40)
      #expect(calls.flatMap(\.names) == names)
      #expect(calls.contains { $0.isTogether && $0.names.count == 32 })
      #expect(try await queue.allEvents() == names.map { "e-" + $0 })
    }
  }
}
