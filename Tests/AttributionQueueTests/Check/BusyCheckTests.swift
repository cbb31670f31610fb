import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// A check while workers change the data that it reads.
@Suite struct BusyCheckTests {
  private struct Open: WorkGate {
    func admit(_ limit: Int) async -> WorkAdmission { .some(limit) }
  }

  /// Decides by the message and the attempt, so each attempt gets another outcome.
  private static let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
    let natural = lease.message.attributes["natural"] ?? ""
    switch (Int(lease.message.body.reduce(0) { $0 &+ $1 }) + lease.attempt) % 6 {
    case 0, 1: return .retry(after: .milliseconds(Int.random(in: 0...30)), error: "again")
    case 2: return .wait(.milliseconds(Int.random(in: 0...30)))
    case 3: return lease.queue == .tokens ? .giveBack : .deadLetter(error: "no")
    default: return .complete(verified(natural))
    }
  }

  private final class End: Sendable {
    private let state = Mutex(false)
    var isReached: Bool { state.withLock { $0 } }
    func reach() { state.withLock { $0 = true } }
  }

  private static func fill(_ queue: DeliveryQueue, until end: End) async throws -> Int {
    var count = 0
    while !end.isReached {
      for _ in 0..<10 {
        let (name, key) = ("n\(count)", "k\(count % 30)")
        switch count % 4 {
        case 0:
          var token = request(name, queue: .tokens)
          token.deadline = DeliveryQueue.now + 60_000
          _ = try await queue.accept(token)
        case 1: _ = try await queue.accept(request(name, notBefore: DeliveryQueue.now + 20))
        default: _ = try await queue.accept(request(name, order: key, keepsOrder: true))
        }
        count += 1
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    return count
  }

  @Test func `Running workers and the trimming of events cause no reported fault`()
    async throws
  {
    try await withQueue({
      $0.maxDeliveries = 1000
      $0.workerTimeout = .milliseconds(300)
      $0.acknowledgedEventTTL = .zero
    }) { queue, server in
      let administration = QueueAdministration(deliveries: queue)
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      let client = try await server.client()
      let end = End()
      let tokens = DeadlineWorker(queue: .tokens, deliveries: queue, concurrency: 8, gate: Open(), handler: Self.handler)
      let working = Task { await tokens.run() }
      let filling = Task { try await Self.fill(queue, until: end) }
      let beside = Task {
        while !end.isReached {
          // Workers that run one after the other own all shards and release them.
          let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: Self.handler)
          let run = Task { await worker.run() }
          try await Task.sleep(for: .milliseconds(Int.random(in: 300...900)))
          worker.stop()
          await run.value
          _ = try await administration.replay(.intake, ids: [])
          _ = try await feed.drain("s", wait: .zero)
          _ = try await feed.trim()
        }
      }
      var options = StoreCheck.Options()
      options.concurrentShards = 4
      // Longer than the check of a shard takes on a busy machine.
      options.pause = .seconds(8)
      var messages = 0
      for _ in 0..<3 {
        let report = try await StoreCheck(redis: client, options: options).run()
        #expect(report.agrees && report.listed.isEmpty, "\(report.text)")
        messages += report.messages
      }
      end.reach()
      let count = try await filling.value
      try await beside.value
      tokens.stop()
      await working.value
      let report = try await StoreCheck(redis: client, options: options).run()
      #expect(report.agrees, "\(report.text)")
      #expect(messages > 0 && count > 100)
      client.close()
    }
  }
}
