import RedisClient
import Testing
import WireJSON

@testable import AttributionQueue

/// What a pushed subscription keeps of its endpoint, and of the bytes that it asks for.
@Suite struct FeedPushTests {
  private func pushed(_ name: String, start: FeedStart = .beginning, originals: String? = nil) -> EventSubscription {
    var push: JSONObject = ["url": "https://example.com"]
    push["originals"] = originals.map { .string($0) }
    return EventSubscription(name: name, start: start, push: push)
  }

  private func kept(_ queue: DeliveryQueue, _ shard: Int = 7) async throws -> Set<String> {
    Set((try await queue.send(["SMEMBERS", .string(Keys.originals(Shard(shard)))]).array ?? []).compactMap(\.string))
  }

  @Test func `A subscription that is made again under a name that was free inherits nothing of the one before`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let shard = Shard(7)
      try await queue.write(["a", "b"])
      let places = try await feed.read(shard, after: .beginning, most: 2).map(\.place)
      _ = try await feed.create(pushed("s"))
      let first = try await feed.seek("s", to: .beginning)
      try await feed.setEndpointHealth(first, Array("{}".utf8))
      #expect(try await feed.endpointHealth("s") != nil)
      #expect(try await feed.delete("s"))
      #expect(try await feed.endpointHealth("s") == nil)
      let second = try await feed.create(pushed("s"))
      #expect(second.generation > first.generation)
      // Whoever pushed for the first one is late.
      let left = UnsettledEvents(
        cursor: places[1], offset: 2, base: .beginning, events: [.init(place: places[0], offset: 1, attempts: 3, firstFailure: 1)])
      let note = EventFeed.PushNote(shard: shard, position: (places[0], 1, .beginning), unsettled: left, clearsUnsettled: false)
      #expect(try await feed.note([note], of: first) == false)
      try await feed.setEndpointHealth(
        EventSubscription(name: "s", createdAt: second.createdAt - 1), Array(#"{"failingSince":1}"#.utf8))
      #expect(try await feed.positions(second).values.allSatisfy { $0 == .beginning })
      #expect(try await feed.unsettled(second).isEmpty)
      #expect(try await feed.endpointHealth("s") == nil)
      #expect(try await feed.note([note], of: second))
      #expect(try await feed.unsettled(second)[shard] == left)
      // What is said after its end leaves nothing in Redis.
      #expect(try await feed.delete("s"))
      #expect(try await feed.note([note], of: second) == false)
      try await feed.setEndpointHealth(second, Array("{}".utf8))
      for key in [Keys.eventPositions(shard), Keys.unsettledEvents(shard), Keys.endpointHealth, Keys.subscriptions] {
        #expect(try await queue.send(["EXISTS", .string(key)]).integer == 0, "\(key)")
      }
      #expect(try await feed.delete("s") == false)
    }
  }

  @Test func `A late end of a subscription leaves the places of a new one of its name`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let first = try await feed.create(pushed("s"))
      #expect(try await feed.delete("s"))
      let second = try await feed.create(pushed("s", start: .now))
      // As the first end would go on if it had stopped in between.
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

  @Test func `One that is made twice at once, with an end of others in between, has the places of one generation`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(pushed("other"))
      // Another maker had seen no end, and was the first to be seen.
      var early = pushed("s")
      early.generation = 0
      _ = try await feed.delete("other")
      try await feed.put(early, at: .beginning, keeps: true)
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

  @Test func `A seek that was interrupted is finished by whoever reads the subscription, and an overtaken one changes nothing`()
    async throws
  {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      try await queue.write(["a", "b"], shard: Shard(7))
      try await queue.write(["c"], shard: Shard(8))
      let before = try await feed.create(pushed("s", start: .now))
      let seven = try #require(try await queue.send(["HGET", .string(Keys.eventPositions(Shard(7))), "s"]).string)
      _ = try await feed.seek("s", to: .beginning)
      // Shard 7 was not reached.
      _ = try await queue.send(["HSET", .string(Keys.eventPositions(Shard(7))), "s", .string(seven)])
      let current = try #require(try await feed.subscription("s"))
      let positions = try await feed.positions(current)
      #expect(positions.count == Shard.count)
      #expect(try await feed.read(Shard(7), after: try #require(positions[Shard(7)]), most: 9).map(\.id) == ["a", "b"])
      #expect(try await feed.backlog("s") == 3)
      // A seek of before that goes on only now.
      try await feed.put(before, at: .now, keeps: false)
      #expect(try await feed.positions(current) == positions)
    }
  }

  @Test func `Original bytes are asked for by name, so that a late end ends no other asking, and what got lost is put back`() async throws {
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
