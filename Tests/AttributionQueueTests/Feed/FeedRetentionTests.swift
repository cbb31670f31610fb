import Synchronization
import Testing

@testable import AttributionQueue

@Suite struct FeedRetentionTests {
  /// Records the notices and observations of a feed.
  private final class Told: Sendable {
    let notices = Mutex<[FeedNotice]>([])
    let observed = Mutex<[String: Int]>([:])

    func feed(_ queue: DeliveryQueue) -> EventFeed {
      EventFeed(
        deliveries: queue,
        observe: { observation in
          self.observed.withLock {
            switch observation {
            case .backlog(let name, let events, _): $0["\(name) backlog"] = Int(events)
            case .dropped(let name, let count, let reason): $0["\(name) lost by \(reason.rawValue)", default: 0] += count
            case .ended(let name): $0["\(name) ended"] = 1
            case .rejectedBodies: break
            }
          }
        },
        notify: { notice in
          self.notices.withLock { $0.append(notice) }
          return EventRecord(id: notice.id, type: "t.notice", json: Array(#"{"id":"\#(notice.id)"}"#.utf8))
        })
    }

    var kinds: [String] { notices.withLock { $0.map { "\($0.subscription) \($0.kind) \($0.reason)" } } }
  }

  @Test func `The backlog is zero after the last event was read, even if a restarted Redis has counted the reads wrongly`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let shard = Shard(7)
      _ = try await feed.create(EventSubscription(name: "s", createdAt: 1))
      try await queue.write(["a", "b"])
      let events = try await feed.pull("s", limit: 10, wait: .zero, lease: .seconds(30))
      #expect(try await feed.acknowledge("s", ackIds: events.map(\.ackId)) == 2)
      let last = try #require(try await feed.read(shard, after: .beginning, limit: 10).last).position
      try await queue.redis.send(["XGROUP", "SETID", .string(Keys.events(shard)), "s", .string(last.entry.text), "ENTRIESREAD", "1"])
      #expect(try await feed.get("s").backlog == 0)
      try await queue.write(["c"])
      #expect((try await feed.get("s").backlog ?? 0) >= 1)
    }
  }

  @Test func `A backlog at its limit is kept, and one beyond it loses its oldest events after a notice`() async throws {
    try await withQueue({ $0.subscriptionBacklog = 10 }) { queue, _ in
      let told = Told()
      let feed = told.feed(queue)
      _ = try await feed.create(name: "slow", types: ["t.a"], start: .beginning)
      _ = try await feed.create(name: "other", types: ["t.a"], start: .beginning)
      try await queue.write((0..<10).map { "n\($0)" })
      let leased = try await feed.take("slow", limit: 2)
      #expect(try await feed.acknowledge("other", ackIds: try await feed.take("other").map(\.ackId)) == 10)
      #expect(try await feed.trim() == 0)
      #expect(told.kinds == ["slow lagging backlog"])
      try await queue.write((10..<13).map { "n\($0)" })
      #expect(try await feed.trim() == 3)
      #expect(told.kinds.contains("slow dropping backlog"))
      let told2 = try #require(told.notices.withLock { $0.first { $0.kind == .dropping } })
      #expect(told2.backlog == 13 && told2.dropped == 0)
      #expect(try await feed.event(told2.id) != nil, "the notice is an event of the feed")
      #expect(told.observed.withLock { $0["slow backlog"] } == 13)
      #expect(told.observed.withLock { $0["other backlog"] } == 3)
      #expect(told.observed.withLock { $0["slow lost by backlog"] == 3 && $0["slow lost by retention"] == nil })
      #expect(try await feed.acknowledge("slow", ackIds: leased.map(\.ackId)) == 0, "the two that were leased are among the oldest")
      // The next round skips the notice itself.
      #expect(try await feed.trim() == 0)
      let kept = try await feed.get("slow")
      #expect(kept.backlog == 10 && kept.dropped == 3)
      #expect(try await feed.ids("slow") == (3..<13).map { "n\($0)" })
      #expect(try await feed.ids("other") == (10..<13).map { "n\($0)" })
      #expect(try await feed.delete("slow"))
      try await feed.trim()
      #expect(told.observed.withLock { $0["slow ended"] } == 1)
    }
  }

  @Test func `Only the events beyond the limit are dropped, even if they are spread over many shards`() async throws {
    try await withQueue({ $0.subscriptionBacklog = 10 }) { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      for shard in 0..<12 { try await queue.write(["n\(shard)", "m\(shard)"], shard: Shard(shard)) }
      try await queue.write(["o"], shard: Shard(200))
      #expect(try await feed.trim() == 15)
      #expect(try await feed.backlog("s") == 10)
    }
  }

  @Test func `Unwanted events are deleted and never counted as lost`() async throws {
    try await withQueue({
      $0.acknowledgedEventTTL = .zero
      $0.eventRetention = .seconds(100_000)
    }) { queue, server in
      let told = Told()
      let feed = told.feed(queue)
      _ = try await feed.create(EventSubscription(name: "s", filter: FeedFilter(apps: ["mine"])))
      _ = try await feed.create(EventSubscription(name: "p", filter: FeedFilter(apps: ["mine"]), push: [:]))
      let mine = EventAttributes(bundleId: "mine")
      let time = DeliveryQueue.now - 1_000_000
      try await queue.write((0..<600).map { TestEvent(id: "n\($0)") }, at: time)
      try await queue.write([TestEvent(id: "m", attributes: mine), TestEvent(id: "o")], at: time)
      #expect(try await feed.trim() == 0)
      #expect(try await queue.allEvents() == ["m", "o"])
      for name in ["s", "p"] { #expect(try await feed.backlog(name) == 2) }
      var configuration = queue.configuration
      configuration.eventRetention = .seconds(500)
      let client = try await server.client()
      let strict = try await DeliveryQueue.open(redis: client, configuration: configuration, logger: quietLogger)
      #expect(try await told.feed(strict).trim() == 2, "the one that each wants")
      client.close()
      #expect(try await queue.allEvents().filter { $0 == "m" || $0 == "o" }.isEmpty)
      #expect(told.kinds.filter { $0.hasSuffix("dropping retention") }.sorted() == ["p dropping retention", "s dropping retention"])
      for name in ["s", "p"] { #expect(try await feed.get(name).dropped == 1) }
    }
  }

  @Test func `Near the end of the retention, a subscription is reported as lagging once an hour`() async throws {
    try await withQueue({ $0.eventRetention = .seconds(10_000) }) { queue, _ in
      let told = Told()
      let feed = told.feed(queue)
      _ = try await feed.create(name: "s", types: ["t.a"], start: .beginning)
      _ = try await feed.create(name: "young", types: ["t.a"], start: .beginning)
      let times = [("s", 8_500), ("young", 7_000)].map { ($0, DeliveryQueue.now - $1 * 1000) }
      for (index, (name, time)) in times.enumerated() {
        try await queue.write(["old \(name)"], shard: Shard(index), at: time)
        _ = try await feed.seek(name, to: .event("old \(name)"))
      }
      #expect(try await feed.trim() == 0)
      #expect(told.kinds == ["s lagging retention"])
      let notice = try #require(told.notices.withLock { $0.first })
      #expect(notice.kind == .lagging && notice.reason == .retention)
      #expect(try await feed.publish(EventRecord(id: notice.id, type: "t.notice", json: [])) == false, "it is on the feed already")
    }
  }
}
