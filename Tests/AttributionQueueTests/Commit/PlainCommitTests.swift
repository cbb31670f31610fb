import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct PlainCommitTests {
  private func outcome(_ call: CommitBatch, _ owned: OwnedMessages, _ queue: DeliveryQueue) async throws -> PlainBatch.Outcome? {
    let plain = PlainCommit(try #require(PlainBatch(call, owned.ownership)))
    return PlainCommit.outcome(try await queue.run(Scripts.commitPlain, plain.keys, plain.arguments))
  }

  private func bucket(of natural: String, _ owned: OwnedMessages, _ queue: DeliveryQueue) -> RedisArgument {
    .string(queue.deduplication.claim(natural, scope: .delivery, shard: owned.shard, now: DeliveryQueue.now).buckets[0])
  }

  @Test func `A plain batch is settled, with its events, their index and its records`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b", "c"])
      let call = owned.batch(queue, 0..<2) { place, natural in
        var completion = verified(natural)
        completion.events[0].attributes =
          place == 0
          ? EventAttributes()
          : EventAttributes(adNetworkId: "n.skadnetwork", appAppleId: 5, bundleId: "com.example", environment: "sandbox")
        return completion
      }
      #expect(try await outcome(call, owned, queue) == .settled(remaining: 1))
      let events = try await queue.send(["XRANGE", .string(Keys.events(owned.shard)), "-", "+"]).array ?? []
      #expect(
        events.map { EventFeed.fields($0.array?.last ?? .null).mapValues { $0.string ?? "" } } == [
          ["i": "e-a", "t": "t.a", "e": #"{"id":"e-a"}"#, "v": ""],
          [
            "i": "e-b", "t": "t.a", "e": #"{"id":"e-b"}"#, "v": "sandbox", "n": "n.skadnetwork", "p": "5", "b": "com.example",
          ],
        ])
      for event in events {
        let id = EventFeed.fields(event.array?.last ?? .null)["i"]?.string ?? ""
        let indexed = try await queue.send(["HGET", .string(Keys.eventsIndex(owned.shard)), .string(id)]).string
        #expect(indexed == event.array?.first?.string)
      }
      for message in owned.messages[..<2] {
        #expect(try await queue.delivery(message.deliveryID)?.state == .verified)
        #expect((1...86_400).contains(try await queue.send(["TTL", .string(Keys.delivery(message.deliveryID))]).integer ?? -1))
      }
    }
  }

  @Test func `A message without an event and one without a natural key are settled too`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b", "c"])
      let call = owned.batch(queue, 0..<3) { place, natural in
        var completion = verified(natural)
        if place < 2 { completion.events = [] }
        if place == 1 { completion.naturalKey = nil }
        return completion
      }
      #expect(try await outcome(call, owned, queue) == .settled(remaining: 0))
      #expect(try await queue.allEvents() == ["e-c"])
      #expect(try await queue.isNaturalKeySeen("a", orderKey: "one", long: false))
      #expect(!(try await queue.isNaturalKeySeen("b", orderKey: "one", long: false)))
    }
  }

  @Test func `If one of the natural keys was claimed before, nothing is changed`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b", "a", "c"])
      #expect(try await outcome(owned.batch(queue, 0..<1), owned, queue) == .settled(remaining: 3))
      #expect(try await outcome(owned.batch(queue, 1..<4), owned, queue) == .needsCommit)
      #expect(!(try await queue.isNaturalKeySeen("b", orderKey: "one", long: false)))
      #expect(try await queue.allEvents() == ["e-a"])
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 3)
      // commit.lua settles the batch, and makes the claims that were undone.
      let settlement = Settlement(queue: .intake, deliveries: queue, observe: { _ in })
      #expect(try await settlement.commit(owned.batch(queue, 1..<4), as: .owner(owned.ownership)) == 0)
      #expect(try await queue.allEvents() == ["e-a", "e-b", "e-c"])
    }
  }

  @Test func `A batch that cannot be settled writes no claim and creates no bucket`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let last = queue.deduplication.claim("b", scope: .delivery, shard: owned.shard, now: DeliveryQueue.now)
      try await queue.redis.send(["SADD", .string(last.bucketName(.previous)), .integer(last.member)])
      let before = try await queue.send(["DBSIZE"]).integer
      #expect(try await outcome(owned.batch(queue, 0..<2), owned, queue) == .needsCommit)
      #expect(try await queue.send(["DBSIZE"]).integer == before)
    }
  }

  @Test func `A batch whose first message was deleted by hand is settled as a whole`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      try await queue.redis.send(["XDEL", .string(Keys.ready(.intake, owned.shard)), .string(owned.messages[0].entryID)])
      #expect(try await outcome(owned.batch(queue, 0..<2), owned, queue) == .settled(remaining: 0))
      #expect(try await queue.allEvents() == ["e-a", "e-b"])
    }
  }

  @Test func `A natural key of the last generation is claimed`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a"])
      let claim = queue.deduplication.claim("a", scope: .delivery, shard: owned.shard, now: DeliveryQueue.now)
      try await queue.redis.send(["SADD", .string(claim.bucketName(.previous)), .integer(claim.member)])
      #expect(try await outcome(owned.batch(queue, 0..<1), owned, queue) == .needsCommit)
      #expect(try await queue.allEvents().isEmpty)
    }
  }

  @Test func `A worker that lost its shard, or whose stream has earlier messages, changes nothing`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      #expect(try await outcome(owned.batch(queue, 1..<2), owned, queue) == .needsCommit)
      guard case .own = try await owned.ownership.take(.intake, owned.shard, for: "two", isAbandoned: false, queue) else {
        return #expect(Bool(false), "not taken")
      }
      #expect(try await outcome(owned.batch(queue, 0..<2), owned, queue) == .needsCommit)
      #expect(try await queue.allEvents().isEmpty)
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 2)
    }
  }

  @Test func `While a subscription requests original bytes, events with original bytes are left to commit.lua`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      try await queue.redis.send(["SADD", .string(Keys.originals(owned.shard)), "s"])
      for keeps in [true, false] {
        let call = owned.batch(queue, 0..<1) { _, natural in
          var completion = verified(natural)
          completion.keepsOriginal = keeps
          return completion
        }
        #expect(try await outcome(call, owned, queue) == (keeps ? .keepsOriginals : .settled(remaining: 1)))
      }
      #expect(try await queue.allEvents() == ["e-a"])
    }
  }

  @Test func `A new bucket gets an expiry, and an existing one keeps its own`() async throws {
    try await withQueue {
      $0.seenBuckets = 1
    } _: { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let bucket = bucket(of: "a", owned, queue)
      try await queue.redis.send(["DEL", bucket])
      #expect(try await outcome(owned.batch(queue, 0..<1), owned, queue) == .settled(remaining: 1))
      #expect((try await queue.send(["TTL", bucket]).integer ?? -1) > 10 * 86_400)
      try await queue.redis.send(["EXPIRE", bucket, "1000"])
      #expect(try await outcome(owned.batch(queue, 1..<2), owned, queue) == .settled(remaining: 0))
      #expect((1...1000).contains(try await queue.send(["TTL", bucket]).integer ?? -1))
    }
  }

  @Test func `An expired record is written again with an expiry`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a"])
      let record = RedisArgument.string(Keys.delivery(owned.messages[0].deliveryID))
      try await queue.redis.send(["DEL", record])
      #expect(try await outcome(owned.batch(queue, 0..<1), owned, queue) == .settled(remaining: 0))
      #expect(try await queue.delivery(owned.messages[0].deliveryID)?.state == .verified)
      #expect((1...86_400).contains(try await queue.send(["TTL", record]).integer ?? -1))
    }
  }
}
