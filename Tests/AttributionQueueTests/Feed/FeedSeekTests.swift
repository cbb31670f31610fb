import Testing

@testable import AttributionQueue

@Suite struct FeedSeekTests {
  /// Writes three events into shard 7 and one into shard 8, some milliseconds apart. Returns the times of their publication.
  private func write(_ queue: DeliveryQueue) async throws -> [Int64] {
    var times: [Int64] = []
    for (id, shard) in [("a", 7), ("b", 8), ("c", 7), ("d", 7)] {
      try await queue.write([id], shard: Shard(shard))
      let place = try await queue.send(["HGET", .string(Keys.eventsIndex(Shard(shard))), .string(id)]).string
      let entry = EntryID(place ?? "")
      times.append(Int64(try #require(entry?.milliseconds)))
      try await Task.sleep(for: .milliseconds(5))
    }
    return times
  }

  @Test func `A subscription begins at a time or at an event, in every shard`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let times = try await write(queue)
      for (name, start, expected) in [
        ("time", FeedStart.time(times[1]), ["b", "c", "d"]), ("later", .time(times[1] + 1), ["c", "d"]),
        ("early", .time(0), ["a", "b", "c", "d"]),
        ("past", .time(-5), ["a", "b", "c", "d"]), ("event", .event("c"), ["c", "d"]), ("first", .event("a"), ["a", "b", "c", "d"]),
        ("future", .time(times[3] + 3_600_000), []),
      ] {
        let made = try await feed.create(EventSubscription(name: name, start: start))
        #expect(made.start == start)
        #expect(try await feed.backlog(name) == Int64(expected.count), "\(name)")
        #expect(Set(try await feed.ids(name)) == Set(expected), "\(name)")
        #expect(try await feed.backlog(name) == Int64(expected.count), "\(name)")
      }
      await #expect(throws: EventFeedError.unknownEvent) {
        _ = try await feed.create(EventSubscription(name: "none", start: .event("none")))
      }
      #expect(try await feed.subscription("none") == nil)
      #expect(try await feed.ids("time").isEmpty)
    }
  }

  @Test func `A subscription that is moved back gets the stored events again, and older acknowledgements do not count`()
    async throws
  {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      let times = try await write(queue)
      let first = try await feed.take("s")
      #expect(try await feed.acknowledge("s", ackIds: first.dropLast().map(\.ackId)) == 3)
      #expect(try await feed.seek("s", to: .time(times[1])).backlog == 3)
      let again = try await feed.take("s")
      #expect(Set(again.map(\.id)) == ["b", "c", "d"])
      #expect(try await feed.acknowledge("s", ackIds: first.map(\.ackId)) == 0)
      #expect(try await feed.modifyLease("s", ackIds: first.map(\.ackId), lease: .zero) == 0)
      #expect(try await feed.acknowledge("s", ackIds: again.map(\.ackId)) == 3)
      #expect(try await feed.seek("s", to: .event("d")).backlog == 1)
      #expect(try await feed.ids("s") == ["d"])
      #expect(try await feed.seek("s", to: .now).backlog == 0)
      #expect(try await feed.ids("s").isEmpty)
      #expect(try await feed.seek("s", to: .beginning).backlog == 4)
      await #expect(throws: EventFeedError.unknownEvent) { _ = try await feed.seek("s", to: .event("none")) }
      #expect(try await feed.ids("s").count == 4)
      await #expect(throws: EventFeedError.unknownSubscription) { _ = try await feed.seek("t", to: .now) }
    }
  }

  @Test func `The number of events after a position is exact, even if it is large`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      try await queue.write((0..<1203).map { "n\($0)" })
      _ = try await feed.create(EventSubscription(name: "s", start: .event("n1")))
      #expect(try await feed.backlog("s") == 1202)
      #expect(try await feed.ids("s", limit: 100).count == 100)
      try await queue.write(["last"])
      #expect(try await feed.backlog("s") == 1203)
    }
  }

  @Test func `A pushed subscription has a position in each shard, which only its own generation changes`() async throws {
    try await withQueue({ $0.acknowledgedEventTTL = .zero }) { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let times = try await write(queue)
      let made = try await feed.create(EventSubscription(name: "s", push: ["url": "https://example.com"]))
      await #expect(throws: EventFeedError.isPushed) { _ = try await feed.take("s") }
      let shard = Shard(7)
      #expect(try await feed.positions(made).values.allSatisfy { $0 == .beginning })
      #expect(try await feed.backlog("s") == 4)
      let read = try await feed.read(shard, after: .beginning, limit: 2)
      #expect(read.map(\.id) == ["a", "c"])
      #expect(read[0].attributes == EventAttributes())
      #expect(try await feed.advance(made, shard, to: read[0].position, count: 1))
      #expect(try await feed.backlog("s") == 3)
      #expect(try await feed.advance(made, shard, to: .beginning, count: 0), "it never goes back by itself")
      #expect(try await feed.positions(made)[shard] == read[0].position)
      // Trimming keeps the events that the subscription has not settled.
      try await feed.trim()
      #expect(try await queue.allEvents().sorted() == ["b", "c", "d"])
      let changed = try await feed.setPush("s") { _ in ["url": "https://example.org"] }
      #expect(changed.push?["url"]?.stringValue == "https://example.org")
      #expect(try await feed.seek("s", to: .time(times[2])).backlog == 2)
      #expect(try await feed.advance(changed, shard, to: read[1].position, count: 1) == false)
      let current = try #require(try await feed.subscription("s"))
      #expect(try await feed.positions(changed).isEmpty)
      #expect(try await feed.advance(current, shard, to: read[1].position, count: 1))
      #expect(try await feed.backlog("s") == 1)
      #expect(try await feed.seek("s", to: .now).backlog == 0)
      #expect(try await feed.delete("s"))
      #expect(try await feed.advance(current, shard, to: read[1].position, count: 0) == false)
      await #expect(throws: EventFeedError.unknownSubscription) { _ = try await feed.setPush("s") { $0 } }
    }
  }
}
