import EventLoops
import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// When a worker reads a shard: after a notification, after it settled, and from time to time.
@Suite struct ShardReadingTests: WorkingShards {
  @Test func `A message in an empty shard notifies the owner`() async throws {
    try await withQueue { queue, _ in
      let heard = Mutex<[Shard]>([])
      let subscriptions = ShardSubscriptions(.intake, queue, loop: 0) { shard, _ in heard.withLock { $0.append(shard) } }
      let shard = queue.deliveryID(for: request("a")).shard
      subscriptions.add(shard)
      try await eventually("it is subscribed") {
        await subscriptions.update()
        return subscriptions.isComplete
      }
      heard.withLock { $0 = [] }
      _ = try await queue.accept(request("a"))
      try await eventually("it is heard") { heard.withLock { $0 } == [shard] }
      // While the stream is not empty, its owner continues reading without notifications.
      _ = try await queue.accept(request("a", copy: "again"))
      #expect(heard.withLock { $0.count } == 1, "while something was there")
      subscriptions.remove(shard)
      await subscriptions.update()
      try await queue.redis.send(["DEL", .string(Keys.ready(.intake, shard))])
      _ = try await queue.accept(request("a", copy: "third"))
      #expect(heard.withLock { $0 } == [shard])
      subscriptions.close()
    }
  }

  @Test func `A message that is accepted between the next read and the commit is read next`() async throws {
    try await withQueue { queue, server in
      let owned = try await OwnedMessages(queue, (0..<ShardWorker.maxBatchSize).map { "n\($0)" })
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing, handler: Self.verifying)
      let shard = WorkerShard(owned.shard)
      shard.own(owned.ownership, suspectedUntil: nil)
      let group = GroupCommit(queue, EventLoopExecutor.all()[0], number: 0)
      let loop = await ShardWorker.WorkerLoop(nil, shards: 1, group: group)
      let sender = try await server.queue()
      // Writes wait in the order of their arrival, and reads do not: the accept is before the commit, and both are behind the read.
      try await queue.redis.send(["CLIENT", "PAUSE", "600000", "WRITE"])
      async let accepted = sender.accept(request("late", order: "one"))
      try await eventually("the accept waits") { try await self.pausedClients(queue) == 1 }
      try await queue.redis.send(["CONFIG", "RESETSTAT"])
      async let next = worker.settle(
        owned.batch(queue, 0..<ShardWorker.maxBatchSize), shard, owned.ownership, loop, readsOn: true)
      try await eventually("the commit waits, and the next messages were read") {
        // One XRANGE is a question of the transaction.
        guard try await self.pausedClients(queue) == 2 else { return false }
        return try await self.calls("xrange", queue) == 2
      }
      try await queue.redis.send(["CLIENT", "UNPAUSE"])
      // Not an empty read, with which the work of the shard would end.
      #expect(try await next == nil)
      #expect(try await accepted.id.shard == owned.shard)
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 1)
      sender.redis.close()
      group.close()
    }
  }

  private func pausedClients(_ queue: DeliveryQueue) async throws -> Int {
    let clients = try await queue.send(["CLIENT", "LIST"]).string ?? ""
    let flags = clients.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("flags=") }
    return flags.count { $0.dropFirst("flags=".count).contains("b") }
  }

  private func calls(_ command: String, _ queue: DeliveryQueue) async throws -> Int {
    let calls = try await queue.redis.send(["INFO", "commandstats"]).string ?? ""
    let line = calls.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_\(command):calls=") }
    return line.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) } ?? 0
  }

  @Test func `An idle worker asks for all of its shards with one command, and finds a message that was added by hand`() async throws {
    try await withQueue { queue, _ in
      try await working(queue, handler: { _ in .deadLetter(error: "no") }) { worker in
        try await eventually("it owns all shards") { worker.owned == Shard.count }
        var found = 0
        // Until it has subscribed to all shards, it reads each of them several times a second.
        try await eventually("it asks for all shards, and reads the one that has a message") {
          try await queue.redis.send(["CONFIG", "RESETSTAT"])
          // Without a notification, and unreadable.
          try await queue.redis.send(["XADD", .string(Keys.ready(.intake, Shard(77))), "*", "i", "nobody", "z", "1"])
          found += 1
          try await eventually("it was found") {
            try await queue.redis.send(["XLEN", .string(Keys.dead(.intake, Shard(77)))]).integer == Int64(found)
          }
          let (asked, read) = (try await calls("xread", queue), try await calls("xrange", queue))
          return (1...3).contains(asked) && (1..<20).contains(read)
        }
      }
    }
  }
}
