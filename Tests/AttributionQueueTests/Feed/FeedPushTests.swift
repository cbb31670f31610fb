import RedisClient
import Testing
import WireJSON

@testable import AttributionQueue

/// The stored data of pushed subscriptions: positions, endpoint health, and requests for original bytes.
@Suite struct FeedPushTests {
  private func pushed(_ name: String, start: FeedStart = .beginning, originals: String? = nil) -> EventSubscription {
    var push: JSONObject = ["url": "https://example.com"]
    push["originals"] = originals.map { .string($0) }
    return EventSubscription(name: name, start: start, push: push)
  }

  private func kept(_ queue: DeliveryQueue, _ shard: Int = 7) async throws -> Set<String> {
    Set((try await queue.send(["SMEMBERS", .string(Keys.originals(Shard(shard)))]).array ?? []).compactMap(\.string))
  }

  @Test func `A new subscription inherits nothing from a deleted one of the same name`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let shard = Shard(7)
      try await queue.write(["a", "b"])
      let places = try await feed.read(shard, after: .beginning, limit: 2).map(\.position)
      _ = try await feed.create(pushed("s"))
      let first = try await feed.seek("s", to: .beginning)
      try await feed.setEndpointHealth(first, Array("{}".utf8))
      #expect(try await feed.endpointHealth("s") != nil)
      #expect(try await feed.delete("s"))
      #expect(try await feed.endpointHealth("s") == nil)
      let second = try await feed.create(pushed("s"))
      #expect(second.generation > first.generation)
      // The pusher of the first subscription reports late.
      let left = UnsettledEvents(
        cursor: places[1], offset: 2, base: .beginning, events: [.init(position: places[0], offset: 1, attempts: 3, firstFailure: 1)])
      let note = EventFeed.PushProgress(shard: shard, position: (places[0], 1, .beginning), unsettled: left, clearsUnsettled: false)
      #expect(try await feed.note([note], of: first) == false)
      try await feed.setEndpointHealth(
        EventSubscription(name: "s", createdAt: second.createdAt - 1), Array(#"{"failingSince":1}"#.utf8))
      #expect(try await feed.positions(second).values.allSatisfy { $0 == .beginning })
      #expect(try await feed.unsettled(second).isEmpty)
      #expect(try await feed.endpointHealth("s") == nil)
      #expect(try await feed.note([note], of: second))
      #expect(try await feed.unsettled(second)[shard] == left)
      // Reports after the deletion leave nothing in Redis.
      #expect(try await feed.delete("s"))
      #expect(try await feed.note([note], of: second) == false)
      try await feed.setEndpointHealth(second, Array("{}".utf8))
      for key in [Keys.eventPositions(shard), Keys.unsettledEvents(shard), Keys.endpointHealth, Keys.subscriptions] {
        #expect(try await queue.send(["EXISTS", .string(key)]).integer == 0, "\(key)")
      }
      #expect(try await feed.delete("s") == false)
    }
  }

  @Test func `A late deletion of a subscription leaves the positions of a new one of the same name`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let first = try await feed.create(pushed("s"))
      #expect(try await feed.delete("s"))
      let second = try await feed.create(pushed("s", start: .now))
      // The rest of the first deletion, as if it had been interrupted.
      for shard in Shard.all {
        _ = try await feed.run(
          Scripts.clear, [Keys.events(shard), Keys.eventPositions(shard), Keys.droppedEvents(shard), Keys.unsettledEvents(shard)],
          ["s", .integer(Int64(first.generation + 1))])
      }
      #expect(
        try await queue.send(["HGET", .string(Keys.eventPositions(Shard(7))), "s"]).string?.hasPrefix("\(second.generation) ") == true)
      #expect(try await feed.positions(second).count == Shard.count)
    }
  }

  @Test func `If two callers create a subscription at once while another one is deleted, its positions have one generation`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(pushed("other"))
      // The other caller did not see the deletion, and is the first to store its subscription.
      var early = pushed("s")
      early.generation = 0
      _ = try await feed.delete("other")
      try await feed.setPositions(of: early, at: .beginning, keepsExisting: true)
      let (seen, json) = (Keys.subscriptions, early.json)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { _ = try await queue.send(["HSETNX", .string(seen), "s", .bytes(json)]) }
        group.addTask { _ = try await feed.create(pushed("s")) }
        try await group.waitForAll()
      }
      let made = try #require(try await feed.subscription("s"))
      #expect(try await feed.positions(made).count == Shard.count)
    }
  }

  @Test func `A reader of the subscription finishes an interrupted seek, and an outdated one changes nothing`()
    async throws
  {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      try await queue.write(["a", "b"], shard: Shard(7))
      try await queue.write(["c"], shard: Shard(8))
      let before = try await feed.create(pushed("s", start: .now))
      let seven = try #require(try await queue.send(["HGET", .string(Keys.eventPositions(Shard(7))), "s"]).string)
      _ = try await feed.seek("s", to: .beginning)
      // The seek did not reach shard 7.
      _ = try await queue.send(["HSET", .string(Keys.eventPositions(Shard(7))), "s", .string(seven)])
      let current = try #require(try await feed.subscription("s"))
      let positions = try await feed.positions(current)
      #expect(positions.count == Shard.count)
      #expect(try await feed.read(Shard(7), after: try #require(positions[Shard(7)]), limit: 9).map(\.id) == ["a", "b"])
      #expect(try await feed.backlog("s") == 3)
      // An earlier seek continues only now.
      try await feed.setPositions(of: before, at: .now, keepsExisting: false)
      #expect(try await feed.positions(current) == positions)
    }
  }

  @Test func `Requests for original bytes have names: a late end of one affects no other, and a lost one is restored`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let (first, second) = (try await feed.keepOriginals(for: "s"), try await feed.keepOriginals(for: "s"))
      _ = try await feed.create(pushed("s", originals: second))
      try await feed.endKeeping(first)
      #expect(try await kept(queue) == [second])
      let young = try await feed.keepOriginals(for: "t")
      for (words) in [["SADD", "of nobody"], ["SADD", "t \(DeliveryQueue.now - 3_600_001) 00"], ["SREM", second]] {
        _ = try await queue.send([.string(words[0]), .string(Keys.originals(Shard(7))), .string(words[1])])
      }
      _ = try await feed.trim()
      #expect(try await kept(queue) == [second, young])
      #expect(try await kept(queue, 8) == [second, young])
      #expect(try await feed.delete("s"))
      #expect(try await kept(queue) == [young])
    }
  }
}
