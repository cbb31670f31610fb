import Testing

@testable import AttributionQueue

@Suite("Listing the feed")
struct FeedListTests {
  /// Appends an event with a given entry id to a shard.
  private func append(_ shard: Int, _ id: String, _ milliseconds: Int64, type: String = "t", _ queue: DeliveryQueue) async throws {
    _ = try await queue.send([
      "XADD", .string(Keys.events(Shard(shard))), .string("\(milliseconds)-1"), "i", .string(id), "t", .string(type), "e", .string("{}"),
      "n",
      "", "p", "", "b", .string(id.hasPrefix("x") ? "com.example.x" : ""), "v", "production",
    ])
  }

  private func pages(
    _ feed: EventFeed, types: [String] = [], filter: FeedFilter = FeedFilter(), from: Int64 = 0, until: Int64? = nil, limit: Int
  )
    async throws -> (ids: [String], pages: Int)
  {
    var (ids, count): ([String], Int) = ([], 0)
    var cursor: FeedCursor?
    repeat {
      let page = try await feed.list(types: types, filter: filter, from: from, until: until, after: cursor, limit: limit)
      ids += page.events.map(\.id)
      count += 1
      #expect(page.events.count <= limit)
      // Clients send a cursor back as text.
      cursor = page.next.flatMap { FeedCursor($0.text) }
      #expect((cursor == nil) == (page.next == nil))
    } while cursor != nil
    return (ids, count)
  }

  @Test("events of all shards come once each, in the order of their publication, for any page size", arguments: [1, 3, 1000])
  func order(limit: Int) async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let feed = EventFeed(deliveries: queue)
    var expected: [(Int64, Int, String)] = []
    for number in 0..<60 {
      // Some events follow each other in one shard, and several shards share a millisecond.
      let (shard, time) = (number % 7 * 30, Int64(1000 + number / 7))
      try await append(shard, "e\(number)", time, queue)
      expected.append((time, shard, "e\(number)"))
    }
    let all = expected.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    #expect(try await pages(feed, limit: limit).ids == all)
    let part = expected.filter { (1002..<1005).contains($0.0) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    #expect(try await pages(feed, from: 1002, until: 1005, limit: limit).ids == part)
  }

  @Test("types and filters leave out events, and pages still end")
  func filters() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let feed = EventFeed(deliveries: queue)
    for number in 0..<40 {
      try await append(5, number == 39 ? "x39" : "e\(number)", Int64(100 + number), type: number % 2 == 0 ? "even" : "odd", queue)
    }
    #expect(try await pages(feed, types: ["even"], limit: 7).ids == stride(from: 0, to: 40, by: 2).map { "e\($0)" })
    #expect(try await pages(feed, filter: FeedFilter(apps: ["com.example.x"]), limit: 2).ids == ["x39"])
    #expect(try await pages(feed, filter: FeedFilter(adNetworkIds: ["nobody"]), limit: 2).ids == [])
    #expect(try await feed.list(types: [], filter: FeedFilter(), from: 50, until: 40, after: nil, limit: 5).events.isEmpty)
  }

  @Test("an invalid cursor is refused", arguments: ["", "1", "1-2", "1-256-0", "-1-0-0", "1-0-x", "1-0-0-0", "9223372036854775807-0-0"])
  func cursors(text: String) { #expect(FeedCursor(text) == nil) }

  @Test("the readers of an event are reported with what they did with it")
  func readers() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let feed = EventFeed(deliveries: queue)
    for name in ["waits", "holds", "has-done"] { _ = try await feed.create(name: name, types: [], start: .beginning) }
    _ = try await feed.create(name: "wants-others", types: ["other"], start: .beginning)
    #expect(try await feed.publish(EventRecord(id: "one", type: "t", json: Array("{}".utf8))))
    _ = try await feed.pull("holds", limit: 1, wait: .seconds(1), lease: .seconds(60))
    let taken = try await feed.pull("has-done", limit: 1, wait: .seconds(1), lease: .seconds(60))
    _ = try await feed.acknowledge("has-done", ackIds: taken.map(\.ackId))
    let found = try #require(try await feed.eventWithReaders("one"))
    let states = Dictionary(uniqueKeysWithValues: found.readers.map { ($0.subscription, $0.state) })
    #expect(states == ["waits": .waiting, "holds": .leased, "has-done": .done, "wants-others": .unwanted])
    #expect(try await feed.eventWithReaders("two") == nil)
  }
}
