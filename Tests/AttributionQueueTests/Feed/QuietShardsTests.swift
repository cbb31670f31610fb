import RedisClient
import TestSupport
import Testing

@testable import AttributionQueue

/// Pulls leave out shards in which nothing can be found.
@Suite struct QuietShardsTests {
  /// How often Redis has run a command.
  private func count(_ command: String, _ queue: DeliveryQueue) async throws -> Int {
    let text = try await queue.send(["INFO", "commandstats"]).string ?? ""
    guard let line = text.split(separator: "\r\n").first(where: { $0.hasPrefix("cmdstat_\(command):calls=") }) else { return 0 }
    return Int(line.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) ?? 0
  }

  @Test func `A pull that finds nothing runs no script in a shard where the last pull found nothing`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      try await queue.write(["a"])
      let first = try await feed.take("s")
      #expect(first.map(\.id) == ["a"])
      let scripts = try await count("evalsha", queue)
      #expect(try await feed.ids("s").isEmpty)
      #expect(try await count("evalsha", queue) == scripts + 1, "only the shard with the leased event")
      #expect(try await feed.acknowledge("s", ackIds: first.map(\.ackId)) == 1)
      #expect(try await feed.ids("s").isEmpty)
      #expect(try await count("evalsha", queue) == scripts + 2)
      let reads = try await count("xread", queue)
      for _ in 0..<5 { #expect(try await feed.ids("s").isEmpty) }
      #expect(try await count("evalsha", queue) == scripts + 2)
      #expect(try await count("xread", queue) == reads + 5, "one command for all shards")
      try await queue.write(["b"], shard: Shard(200))
      #expect(try await feed.ids("s", limit: 1) == ["b"])
      #expect(try await count("evalsha", queue) == scripts + 3)
    }
  }

  @Test func `A pull that waits finds a new event, an ended lease and an event that another reader gives back`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      let other = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      #expect(try await feed.ids("s").isEmpty)
      async let waited = feed.pull("s", limit: 1, wait: .seconds(60), lease: .seconds(3600))
      try await queue.write(["a"], shard: Shard(9))
      let first = try await waited
      #expect(first.map(\.id) == ["a"])

      async let givenBack = feed.pull("s", limit: 1, wait: .seconds(60), lease: .milliseconds(1))
      #expect(try await other.modifyLease("s", ackIds: first.map(\.ackId), lease: .zero) == 1)
      #expect(try await givenBack.map(\.id) == ["a"])
      #expect(try await feed.pull("s", limit: 1, wait: .seconds(60), lease: .seconds(3600)).map(\.id) == ["a"])
      #expect(try await feed.ids("s").isEmpty)
    }
  }

  @Test func `After a seek, and for a new subscription of the same name, all shards are pulled again`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      let other = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      try await queue.write(["a"])
      #expect(try await feed.acknowledge("s", ackIds: feed.take("s").map(\.ackId)) == 1)
      #expect(try await feed.ids("s").isEmpty)
      _ = try await other.seek("s", to: .beginning)
      #expect(try await feed.acknowledge("s", ackIds: feed.take("s").map(\.ackId)) == 1)
      #expect(try await feed.ids("s").isEmpty)
      for _ in 0..<2 {
        try await Task.sleep(for: .milliseconds(2))  // so that the times of creation differ
        #expect(try await other.delete("s"))
        _ = try await other.create(name: "s", types: [], start: .beginning)
        #expect(try await feed.acknowledge("s", ackIds: feed.take("s").map(\.ackId)) == 1)
        #expect(try await feed.ids("s").isEmpty)
      }
      #expect(try await other.delete("s"))
      await #expect(throws: EventFeedError.unknownSubscription) { try await feed.ids("s") }
    }
  }

  @Test func `What a reader finds during a seek is discarded when the seek is finished`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      _ = try await feed.seek("s", to: .beginning)
      let sought = try #require(try await feed.subscription("s"))
      // The state of a seek that has not set the positions yet.
      var begun = sought
      begun.generation += 1
      begun.soughtTime = nil
      _ = try await queue.send(["HSET", .string(Keys.subscriptions), "s", .bytes(begun.json)])
      #expect(try await feed.ids("s").isEmpty)
      #expect(feed.quietShards.positions(of: begun).byShard.count == Shard.count)
      _ = try await feed.seek("s", to: .beginning)
      let finished = try #require(try await feed.subscription("s"))
      #expect(finished.soughtTime == 0 && finished.generation == begun.generation + 1)
      #expect(feed.quietShards.positions(of: finished).byShard.isEmpty)
    }
  }

  @Test func `If Redis refuses the question about new events, all shards are pulled`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      #expect(try await feed.ids("s").isEmpty)
      try await queue.write(["a"])
      _ = try await queue.send(["ACL", "SETUSER", "default", "-xread"])
      #expect(try await feed.ids("s") == ["a"])
    }
  }

  @Test(arguments: [(EventFeed.maxChanged, Shard.count - EventFeed.maxChanged), (EventFeed.maxChanged + 1, 0)])
  func `If many quiet shards have new events, all positions are discarded`(changed: Int, left: Int) async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      #expect(try await feed.ids("s").isEmpty)
      for index in 0..<changed { try await queue.write(["e\(index)"], shard: Shard(index)) }
      #expect(try await feed.ids("s").count == changed)
      let subscription = try #require(try await feed.subscription("s"))
      #expect(feed.quietShards.positions(of: subscription).byShard.count == left)
      #expect(try await feed.ids("s").isEmpty)
      #expect(feed.quietShards.positions(of: subscription).byShard.count == Shard.count - changed, "they are found again")
    }
  }

  @Test func `In a cluster each quiet shard is asked by a command of its own`() async throws {
    let server = try RedisServer(cluster: true)
    do {
      let client = try await server.clusterClient()
      let queue = try await DeliveryQueue.open(redis: client, configuration: QueueConfiguration(), logger: quietLogger)
      let feed = EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600)))
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      #expect(try await feed.ids("s").isEmpty)
      let (scripts, reads) = (try await count("evalsha", queue), try await count("xread", queue))
      #expect(try await feed.ids("s").isEmpty)
      #expect(try await count("evalsha", queue) == scripts)
      #expect(try await count("xread", queue) == reads + Shard.count)
      try await queue.write(["a"], shard: Shard(200))
      #expect(try await feed.ids("s", limit: 1) == ["a"])
      #expect(try await count("evalsha", queue) == scripts + 1)
      client.close()
    } catch {
      await server.remove()
      throw error
    }
    await server.remove()
  }

  @Test func `Positions are discarded when they are too old, and when the subscription has changed`() {
    let (quiet, start) = (QuietShards(), ContinuousClock.now)
    var subscription = EventSubscription(name: "s")
    let last = EntryID(milliseconds: 7, number: 1)
    let first = quiet.positions(of: subscription, now: start)
    #expect(first.byShard.isEmpty)
    quiet.add(Shard(3), last: last, to: first)
    quiet.add(Shard(4), last: last, to: first)
    quiet.remove([Shard(4)], from: first)
    #expect(quiet.positions(of: subscription, now: start + QuietShards.maxAge - .nanoseconds(1)).byShard == [Shard(3): last])
    #expect(quiet.positions(of: subscription, now: start + QuietShards.maxAge).byShard.isEmpty)
    quiet.add(Shard(3), last: last, to: first)
    #expect(quiet.positions(of: subscription, now: start + QuietShards.maxAge).byShard.isEmpty, "a pull that began before")

    let now = ContinuousClock.now
    quiet.add(Shard(3), last: last, to: quiet.positions(of: subscription, now: now))
    subscription.generation += 1
    #expect(quiet.positions(of: subscription, now: now).byShard.isEmpty)
    quiet.discard("s")
    #expect(quiet.positions(of: subscription, now: now).byShard.isEmpty)
  }

  @Test(arguments: [false, true])
  func `Whatever readers do, a pull finds nothing only if a pull of all shards finds nothing`(isOrdered: Bool) async throws {
    var random = SeededRandom("quiet shards")
    try await withQueue { queue, _ in
      let feeds = (0..<2).map { _ in EventFeed(deliveries: queue, quietShards: QuietShards(maxAge: .seconds(3600))) }
      _ = try await feeds[0].create(EventSubscription(name: "s", types: ["t.a"], isOrdered: isOrdered))
      var (written, leased, done): (Int, [FeedEvent], Set<String>) = (0, [], [])
      var wanted: Set<String> = []
      for _ in 0..<150 {
        let feed = feeds.randomElement(using: &random) ?? feeds[0]
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2:
          let isWanted = Bool.random(using: &random)
          let subject = EventAttributes(bundleId: "b\(Int.random(in: 0..<4, using: &random))")
          let event = TestEvent(id: "e\(written)", type: isWanted ? "t.a" : "t.b", attributes: subject)
          try await queue.write([event], shard: Shard(Int.random(in: 0..<6, using: &random)))
          if isWanted { wanted.insert(event.id) }
          written += 1
        case 3...6:
          let found = try await feed.take("s", limit: Int.random(in: 1...5, using: &random))
          leased += found
          if found.isEmpty {
            let missed = try await EventFeed(deliveries: queue).take("s")
            #expect(missed.isEmpty)
            leased += missed
          }
        case 7...8 where !leased.isEmpty:
          let event = leased.remove(at: Int.random(in: 0..<leased.count, using: &random))
          #expect(try await feed.acknowledge("s", ackIds: [event.ackId]) == 1)
          done.insert(event.id)
        case 9 where !leased.isEmpty:
          let event = leased.remove(at: Int.random(in: 0..<leased.count, using: &random))
          #expect(try await feed.modifyLease("s", ackIds: [event.ackId], lease: .zero) == 1)
        default: break
        }
      }
      // Everything that is left is found by readers that leave shards out.
      while true {
        if !leased.isEmpty { #expect(try await feeds[1].acknowledge("s", ackIds: leased.map(\.ackId)) == leased.count) }
        done.formUnion(leased.map(\.id))
        leased = try await feeds[0].take("s")
        if leased.isEmpty { break }
      }
      #expect(done == wanted)
    }
  }
}
