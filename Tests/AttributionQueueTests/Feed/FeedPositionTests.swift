import Testing

@testable import AttributionQueue

@Suite("Positions of pushed subscriptions") struct FeedPositionTests {
  private let shard = Shard(7)

  /// Writes events into one shard and creates a pushed subscription of them.
  private func made(_ feed: EventFeed, _ queue: DeliveryQueue, _ count: Int, filter: FeedFilter = FeedFilter())
    async throws -> (EventSubscription, [FeedPosition])
  {
    let subscription = try await feed.create(EventSubscription(name: "p", filter: filter, push: [:]))
    try await queue.write((0..<count).map { "n\($0)" })
    return (subscription, try await feed.read(shard, after: .beginning, limit: count).map(\.position))
  }

  @Test("progress that is stored while events are dropped is counted once")
  func dropped() async throws {
    try await withQueue({ $0.subscriptionBacklog = 10 }) { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let (subscription, places) = try await made(feed, queue, 14)
      #expect(try await feed.trim() == 4)
      // The pusher had read eight events from the beginning.
      #expect(try await feed.advance(subscription, shard, from: .beginning, to: places[7], count: 8))
      #expect(try await feed.backlog("p") == 6)
      #expect(try await feed.advance(subscription, shard, from: places[7], to: places[9], count: 2))
      #expect(try await feed.backlog("p") == 4)
      try await queue.write((14..<24).map { "n\($0)" })
      #expect(try await feed.trim() == 4, "the bound holds on")
    }
  }

  @Test("repeated progress is not counted twice, and progress with an unknown base is counted again")
  func again() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let (subscription, places) = try await made(feed, queue, 500)
      for _ in 0..<2 { #expect(try await feed.advance(subscription, shard, from: .beginning, to: places[9], count: 10)) }
      #expect(try await feed.backlog("p") == 490)
      // The reply was lost, and the pusher continued.
      #expect(try await feed.advance(subscription, shard, from: .beginning, to: places[19], count: 20))
      #expect(try await feed.backlog("p") == 480)
      #expect(try await feed.advance(subscription, shard, to: places[449], count: 3))
      #expect(try await feed.backlog("p") == 50)
    }
  }

  @Test("events delivered after a refused event are not in the backlog and are never reported as lost")
  func refused() async throws {
    try await withQueue({ $0.subscriptionBacklog = 3 }) { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let (subscription, places) = try await made(feed, queue, 12)
      let left = UnsettledEvents(
        cursor: places[9], offset: 9, base: places[0],
        events: [2, 5].map { .init(position: places[$0], offset: $0, attempts: 1, firstFailure: 1) })
      #expect(try await feed.advance(subscription, shard, from: .beginning, to: places[0], count: 1, unsettled: left))
      let found = try await feed.get("p")
      #expect(found.backlog == 4, "two that are refused, two that were not read")
      #expect(found.oldestAgeSeconds != nil)
      #expect(try await feed.unsettled(subscription) == [shard: left])
      #expect(try await feed.trim() == 1)
      #expect(try await feed.get("p").dropped == 1)
      #expect(try await feed.positions(subscription)[shard] == places[4], "behind the refused one to the next")
      #expect(try await feed.note([.init(shard: shard, position: nil, clearsUnsettled: true)], of: subscription))
      #expect(try await feed.unsettled(subscription).isEmpty)
    }
  }

  @Test("unwanted and delivered events are skipped together")
  func passedBy() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let subscription = try await feed.create(EventSubscription(name: "p", types: ["t.a"], push: [:]))
      try await queue.write(["a", "b", "c"].map { TestEvent(id: $0, type: $0 == "b" ? "t.b" : "t.a") })
      let places = try await feed.read(shard, after: .beginning, limit: 3).map(\.position)
      let left = UnsettledEvents(
        cursor: places[2], offset: 3, base: .beginning, events: [.init(position: places[2], offset: 3, attempts: 2, firstFailure: 1)])
      #expect(try await feed.note([.init(shard: shard, position: nil, unsettled: left)], of: subscription))
      #expect(try await feed.backlog("p") == 1)
      #expect(try await feed.trim() == 0)
      #expect(try await feed.positions(subscription)[shard] == places[1])
      #expect(try await feed.get("p").dropped == 0)
    }
  }

  @Test("progress of another generation changes nothing")
  func generations() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let (subscription, places) = try await made(feed, queue, 2)
      _ = try await feed.seek("p", to: .beginning)
      let left = UnsettledEvents(cursor: places[1], offset: 2, base: .beginning, events: [])
      #expect(try await feed.advance(subscription, shard, from: .beginning, to: places[1], count: 2, unsettled: left) == false)
      #expect(try await queue.send(["HGET", .string(Keys.unsettledEvents(shard)), "p"]).string == nil)
      #expect(try await feed.backlog("p") == 2)
    }
  }

  @Test("a lost position is created again and works, but not that of a deleted subscription")
  func lost() async throws {
    try await withQueue({ $0.acknowledgedEventTTL = .zero }) { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let (subscription, places) = try await made(feed, queue, 3)
      _ = try await feed.create(EventSubscription(name: "q", start: .now, push: [:]))
      _ = try await queue.send(["HDEL", .string(Keys.eventPositions(shard)), "p"])
      #expect(try await feed.advance(subscription, shard, from: .beginning, to: places[0], count: 1) == false)
      #expect(try await feed.positions(subscription).values.allSatisfy { $0 == .beginning })
      #expect(try await feed.backlog("p") == 3)
      try await feed.trim()
      #expect(try await queue.allEvents().count == 3)
      #expect(try await feed.advance(subscription, shard, from: .beginning, to: places[1], count: 2))
      #expect(try await feed.backlog("p") == 1)
      #expect(try await feed.delete("p"))
      await #expect(throws: EventFeedError.unknownSubscription) { _ = try await feed.positions(subscription) }
      #expect(try await queue.send(["HEXISTS", .string(Keys.eventPositions(shard)), "p"]).integer == 0)
    }
  }
}
