import Synchronization
import Testing

@testable import AttributionQueue

@Suite("Stopping a worker")
struct WorkerStopTests {
  @Test(
    "it finishes started messages, gives back the rest and takes no more", arguments: [ShardWorker.Pace.computing, .waiting(shards: 256)])
  func stops(pace: ShardWorker.Pace) async throws {
    try await withQueue { queue, _ in
      for number in 0..<400 { _ = try await queue.accept(request("m\(number)")) }
      let worked = Mutex<[String]>([])
      let mayEnd = Mutex(false)
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        let name = lease.message.attributes["natural"] ?? ""
        worked.withLock { $0.append(name) }
        while !mayEnd.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
        return .complete(verified(name))
      }
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: pace, handler: handler)
      let run = Task { await worker.run() }
      try await eventually("work was begun in each lane") { worked.withLock { $0.count } > 100 }
      worker.stop()
      for number in 400..<500 { _ = try await queue.accept(request("m\(number)")) }
      mayEnd.withLock { $0 = true }
      await run.value
      let ended = worked.withLock { $0 }
      let snapshot = try await QueueAdministration(deliveries: queue).snapshot(.intake)
      #expect(snapshot.inFlight == 0)
      #expect(snapshot.depth == 500 - ended.count)
      #expect(snapshot.depth >= 100)
      #expect(try await queue.allEvents().sorted() == ended.map { "e-" + $0 }.sorted())
    }
  }

  @Test("it releases every shard, at whatever moment it is stopped or cancelled", arguments: [false, true])
  func stopsWhileItStarts(isCancelled: Bool) async throws {
    try await withQueue { queue, _ in
      for round in 0..<12 {
        for number in 0..<300 { _ = try await queue.accept(request("\(round) \(number)")) }
        let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing) { lease in
          .complete(verified(lease.message.attributes["natural"] ?? ""))
        }
        let run = Task { await worker.run() }
        try await Task.sleep(for: .milliseconds(5 * round))
        if isCancelled { run.cancel() } else { worker.stop() }
        await run.value
        for shard in Shard.all {
          let owner = try await ShardOwnership.read(.intake, shard, queue).owner
          #expect(owner == nil, "shard \(shard.index) after \(5 * round) ms")
        }
      }
    }
  }
}
