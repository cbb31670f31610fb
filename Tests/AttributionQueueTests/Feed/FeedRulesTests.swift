import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct FeedRulesTests {
  /// Publishes one event with an id and a type.
  private func publish(_ queue: DeliveryQueue, _ name: String, type: String = "t.a") async throws {
    _ = try await queue.accept(request(name))
    for lease in try await queue.leaseAll("w") {
      try await queue.complete(
        lease,
        Completion(
          state: .verified, naturalKey: name,
          events: [EventRecord(id: name, type: type, json: Array("{\"id\":\"\(name)\"}".utf8))]))
    }
  }

  private func texts(_ events: [FeedEvent]) -> Set<String> { Set(events.map { String(decoding: $0.json, as: UTF8.self) }) }

  @Test func `Creating the same subscription again returns it, and another one of its name is refused`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let made = try await feed.create(name: "s", types: ["t.b", "t.a"], start: .now)
      #expect(try await feed.create(name: "s", types: ["t.a", "t.b"], start: .now) == made)
      await #expect(throws: EventFeedError.differs) { _ = try await feed.create(name: "s", types: [], start: .now) }
      await #expect(throws: EventFeedError.differs) {
        _ = try await feed.create(name: "s", types: ["t.a", "t.b"], start: .beginning)
      }
      #expect(try await feed.delete("s"))
      #expect(try await feed.delete("s") == false)
      await #expect(throws: EventFeedError.unknownSubscription) {
        _ = try await feed.pull("s", limit: 1, wait: .zero, lease: .seconds(30))
      }
      await #expect(throws: EventFeedError.unknownSubscription) { _ = try await feed.acknowledge("s", ackIds: []) }
    }
  }

  @Test func `A subscription from now on gets only later events, and one with types only these`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      try await publish(queue, "old")
      _ = try await feed.create(name: "now", types: [], start: .now)
      _ = try await feed.create(name: "all", types: [], start: .beginning)
      _ = try await feed.create(name: "b", types: ["t.b"], start: .beginning)
      try await publish(queue, "new", type: "t.b")
      let lease = Duration.seconds(30)
      #expect(texts(try await feed.pull("now", limit: 9, wait: .seconds(1), lease: lease)) == ["{\"id\":\"new\"}"])
      #expect(texts(try await feed.pull("all", limit: 9, wait: .seconds(1), lease: lease)).count == 2)
      #expect(texts(try await feed.pull("b", limit: 9, wait: .seconds(1), lease: lease)) == ["{\"id\":\"new\"}"])
      #expect(try await feed.event("old") == Array("{\"id\":\"old\"}".utf8))
      #expect(try await feed.event("none") == nil)
    }
  }

  /// Writes events into one shard, as a commit does.
  private func write(_ queue: DeliveryQueue, _ names: [String], type: String) async throws {
    let script = """
      for index = 2, #ARGV do
        local id = redis.call('XADD', KEYS[1], '*', 'i', ARGV[index], 't', ARGV[1], 'e', '{"id":"' .. ARGV[index] .. '"}')
        redis.call('HSET', KEYS[2], ARGV[index], id)
      end
      """
    _ = try await queue.send(
      ["EVAL", .string(script), "2", .string(Keys.events(Shard(7))), .string(Keys.eventsIndex(Shard(7))), .string(type)]
        + names.map { .string($0) })
  }

  @Test func `Events whose lease has ended come again, even behind events with long leases`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      let names = (0..<12).map { "n\($0)" }
      try await write(queue, names, type: "t.a")
      var held = 0
      while held < 4 { held += try await feed.pull("s", limit: 4 - held, wait: .seconds(1), lease: .seconds(3600)).count }
      var short: Set<String> = []
      while short.count < 8 { short.formUnion(texts(try await feed.pull("s", limit: 8, wait: .seconds(1), lease: .seconds(1)))) }
      try await Task.sleep(for: .milliseconds(1100))
      #expect(try await feed.pull("s", limit: 1, wait: .zero, lease: .seconds(3600)).count == 1)
      var again: Set<String> = []
      while again.count < 7 {
        let pulled = try await feed.pull("s", limit: 10, wait: .zero, lease: .seconds(3600))
        try #require(!pulled.isEmpty)
        again.formUnion(texts(pulled))
      }
      #expect(again.isSubset(of: short))
      #expect(try await feed.pull("s", limit: 10, wait: .zero, lease: .seconds(30)).isEmpty)
    }
  }

  @Test func `A subscription finds its event behind any number of others`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: ["t.b"], start: .beginning)
      try await write(queue, (0..<1203).map { "other\($0)" }, type: "t.a")
      try await write(queue, ["mine"], type: "t.b")
      #expect(texts(try await feed.pull("s", limit: 1, wait: .zero, lease: .seconds(30))) == ["{\"id\":\"mine\"}"])
    }
  }

  @Test func `Trimming continues until all events that may be deleted are deleted`() async throws {
    try await withQueue({ $0.eventRetention = .zero }) { queue, _ in
      let feed = EventFeed(deliveries: queue)
      try await write(queue, (0..<1203).map { "n\($0)" }, type: "t.a")
      try await Task.sleep(for: .milliseconds(5))
      // Without a subscription, no event counts as lost.
      #expect(try await feed.trim() == 0)
      #expect(try await queue.allEvents().isEmpty)
      #expect(try await queue.send(["HLEN", .string(Keys.eventsIndex(Shard(7)))]).integer == 0)
    }
  }

  @Test func `A pull returns at most the requested number of events, and repeated pulls return all`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      for index in 0..<30 { try await publish(queue, "e\(index)") }
      var seen: [String] = []
      while true {
        let events = try await feed.pull("s", limit: 7, wait: .zero, lease: .seconds(3600))
        #expect(events.count <= 7)
        if events.isEmpty { break }
        seen += events.map { String(decoding: $0.json, as: UTF8.self) }
      }
      #expect(seen.count == 30)
      #expect(Set(seen).count == 30)
    }
  }

  @Test func `The backlog counts the unacknowledged events and has the age of the oldest`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      try await publish(queue, "one")
      try await publish(queue, "two")
      #expect(try await feed.list().first?.backlog == 2)
      #expect((try await feed.list().first?.oldestAgeSeconds ?? -1) >= 0)
      let events = try await feed.pull("s", limit: 10, wait: .seconds(1), lease: .seconds(30))
      #expect(try await feed.list().first?.backlog == 2)
      #expect(try await feed.acknowledge("s", ackIds: events.map(\.ackId)) == 2)
      #expect(try await feed.list().first?.backlog == 0)
      #expect(try await feed.list().first?.oldestAgeSeconds == nil)
    }
  }

  @Test func `Trimming keeps what a subscription has not acknowledged until the retention ends`() async throws {
    try await withQueue({ $0.acknowledgedEventTTL = .zero }) { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      _ = try await feed.create(name: "slow", types: [], start: .beginning)
      try await publish(queue, "one")
      try await Task.sleep(for: .milliseconds(5))
      let events = try await feed.pull("s", limit: 1, wait: .seconds(1), lease: .seconds(30))
      #expect(try await feed.acknowledge("s", ackIds: events.map(\.ackId)) == 1)
      #expect(try await feed.trim() == 0)
      #expect(try await feed.event("one") != nil)
      let slow = try await feed.pull("slow", limit: 1, wait: .seconds(1), lease: .seconds(30))
      #expect(try await feed.trim() == 0)
      #expect(try await feed.event("one") != nil)
      #expect(try await feed.acknowledge("slow", ackIds: slow.map(\.ackId)) == 1)
      #expect(try await feed.trim() == 0)
      #expect(try await feed.event("one") == nil)
      #expect(try await queue.allEvents().isEmpty)
    }
  }

  @Test func `Unacknowledged events are deleted and counted after their retention`() async throws {
    try await withQueue({
      $0.acknowledgedEventTTL = .zero
      $0.eventRetention = .zero
    }) { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      try await publish(queue, "one")
      try await Task.sleep(for: .milliseconds(5))
      #expect(try await feed.trim() == 1)
      #expect(try await queue.allEvents().isEmpty)
    }
  }
}
