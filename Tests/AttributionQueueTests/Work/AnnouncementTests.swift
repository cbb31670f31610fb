import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// An accept into an empty stream publishes the message, so that the shard's owner need not read it.
@Suite struct AnnouncementTests {
  /// What is published of the shards while `body` runs.
  private func published(_ queue: DeliveryQueue, _ shards: [Shard], _ body: () async throws -> Void) async throws -> [(Shard, [UInt8])] {
    let found = Mutex<[(Shard, [UInt8])]>([])
    let subscriptions = ShardSubscriptions(.intake, queue, loop: 0) { shard, message in
      // A shard is also told of when its subscription begins.
      if !message.isEmpty || found.withLock({ $0.contains { $0.0 == shard } }) { found.withLock { $0.append((shard, message)) } }
    }
    for shard in shards { subscriptions.want(shard) }
    await subscriptions.update()
    try await body()
    let end = ContinuousClock.now + .milliseconds(300)
    while ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(20)) }
    subscriptions.close()
    return found.withLock { $0 }
  }

  @Test func `An announcement is what XRANGE answers, for the first message of an empty stream only`() async throws {
    try await withQueue { queue, _ in
      let shard = queue.deliveryID(for: request("a", order: "one")).shard
      let told = try await published(queue, [shard]) {
        for name in ["a", "b"] { _ = try await queue.accept(request(name, order: "one")) }
      }
      #expect(told.filter { !$0.1.isEmpty }.count == 1)
      let read = try #require(ShardWorker.Read(announcement: told.first?.1 ?? []))
      #expect(read.isAnnounced && read.count == 1)
      let entries = try await queue.send(["XRANGE", .string(Keys.ready(.intake, shard)), "-", "+"])
      #expect(describe(read.entries.first { _ in true }) == describe(entries.elements.first { _ in true }))
    }
  }

  private func describe(_ reply: RedisReply?) -> [String] {
    guard let reply else { return [] }
    return reply.array?.flatMap { describe($0) } ?? [reply.string ?? ""]
  }

  @Test func `Long messages and messages that keep their order are not announced`() async throws {
    try await withQueue { queue, _ in
      for (length, isTold) in [(4096, true), (4097, false)] {
        var long = request("long\(length)", order: "long\(length)")
        long.message.body = [UInt8](repeating: 65, count: length)
        let accepted = long
        let told = try await published(queue, [queue.deliveryID(for: long).shard]) { _ = try await queue.accept(accepted) }
        #expect(told.contains { !$0.1.isEmpty } == isTold, "\(length)")
      }
      let ordered = request("o", order: "ordered", keepsOrder: true)
      let told = try await published(queue, [queue.deliveryID(for: ordered).shard]) { _ = try await queue.accept(ordered) }
      #expect(!told.contains { !$0.1.isEmpty })
    }
  }

  @Test(arguments: [true, false])
  func `A message that was settled before its announcement is not settled again`(isPlain: Bool) async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let words = Mutex<[String]>([])
      let settlement = Settlement(queue: .intake, deliveries: queue) {
        if case .processed(let word, _, _, _) = $0 { words.withLock { $0.append(word) } }
      }
      func call() -> CommitBatch {
        owned.batch(queue, 0..<1) { _, natural in
          var completion = verified(natural)
          completion.keepsBody = !isPlain
          return completion
        }
      }
      #expect(try await settlement.commitAnnounced(call(), owned.ownership) == 1)
      let record = try await queue.delivery(owned.messages[0].deliveryID)
      #expect(try await settlement.commitAnnounced(call(), owned.ownership) == nil)
      // The next message is the first of the stream: it is not taken for the announced one.
      #expect(try await queue.delivery(owned.messages[0].deliveryID) == record)
      #expect(words.withLock { $0 } == ["verified"])
      #expect(try await queue.allEvents() == ["e-a"])
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 1)
    }
  }

  @Test func `An announced message whose natural key was claimed before is a duplicate`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "a"])
      let words = Mutex<[String]>([])
      let settlement = Settlement(queue: .intake, deliveries: queue) {
        if case .processed(let word, _, _, _) = $0 { words.withLock { $0.append(word) } }
      }
      #expect(try await settlement.commitAnnounced(owned.batch(queue, 0..<1), owned.ownership) == 1)
      #expect(try await settlement.commitAnnounced(owned.batch(queue, 1..<2), owned.ownership) == 0)
      #expect(try await queue.allEvents() == ["e-a"])
      #expect(words.withLock { $0 } == ["verified", "duplicate"])
    }
  }

  @Test(arguments: ["nonsense", "*1\r\n*2\r\n$3\r\n9-1\r\n*2\r\n$1\r\ni\r\n$1\r\nx\r\n", "*0\r\n", "$1\r\nx\r\n", "*1\r\n*2\r\n$3\r\n9-"])
  func `Whatever is published on a shard's channel, its messages become one event each`(_ text: String) async throws {
    try await withQueue { queue, _ in
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .judging) { lease in
        .complete(verified(lease.message.attributes["natural"] ?? ""))
      }
      let run = Task { await worker.run() }
      try await eventually("all shards are owned") { worker.owned == Shard.count }
      for shard in Shard.all { try await queue.redis.send(["SPUBLISH", .string(Keys.ready(.intake, shard)), .string(text)]) }
      for name in ["a", "b", "c"] { _ = try await queue.accept(request(name)) }
      try await eventually("all are settled") { try await queue.allEvents().count == 3 }
      worker.stop()
      await run.value
      #expect(Set(try await queue.allEvents()) == ["e-a", "e-b", "e-c"])
      for shard in Shard.all { #expect(try await queue.send(["XLEN", .string(Keys.dead(.intake, shard))]).integer == 0) }
    }
  }
}
