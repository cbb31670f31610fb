import Testing

@testable import AttributionQueue

@Suite struct FeedLeaseTests {
  @Test func `An extended lease does not end, and events that are given back can be leased immediately`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      try await queue.write(["a", "b", "c"])
      let events = try await feed.take("s")
      #expect(events.map(\.id) == ["a", "b", "c"])
      #expect(try await feed.modifyLease("s", ackIds: [events[0].ackId], lease: .seconds(3600)) == 1)
      #expect(try await feed.modifyLease("s", ackIds: [events[1].ackId, "x", "7.1-1", events[1].ackId + ".4"], lease: .zero) == 1)
      #expect(try await feed.ids("s", lease: .seconds(3600)) == ["b"])
      #expect(try await feed.modifyLease("s", ackIds: [events[2].ackId], lease: .milliseconds(1)) == 1)
      try await Task.sleep(for: .milliseconds(5))
      #expect(try await feed.ids("s") == ["c"])
      #expect(try await feed.ids("s").isEmpty)
      #expect(try await feed.acknowledge("s", ackIds: events.map(\.ackId)) == 3)
      #expect(try await feed.modifyLease("s", ackIds: events.map(\.ackId), lease: .seconds(1)) == 0)
      await #expect(throws: EventFeedError.unknownSubscription) { _ = try await feed.modifyLease("t", ackIds: [], lease: .zero) }
    }
  }

  @Test(arguments: [EventSubscription(name: "s"), EventSubscription(name: "s", isOrdered: true)])
  func `Lengths of leases that are not in use leave nothing in Redis`(_ subscription: EventSubscription) async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(subscription)
      try await queue.write(["a", "b"])
      let held = try await feed.take("s", limit: 1, lease: .seconds(3600))
      for seconds in 1...30 {
        let found = try await feed.take("s", limit: 1, lease: .seconds(seconds))
        #expect(try await feed.modifyLease("s", ackIds: found.map(\.ackId), lease: .zero) == found.count)
      }
      let consumers = try await queue.send(["XINFO", "CONSUMERS", .string(Keys.events(Shard(7))), "s"]).array ?? []
      let lengths: [String] = consumers.compactMap { $0.array?.dropFirst().first?.string }
      let used: Set = ["0", "30000", "3600000"]
      #expect(used.isSuperset(of: lengths))
      #expect(try await feed.acknowledge("s", ackIds: held.map(\.ackId)) == 1)
    }
  }

  @Test func `A lease that has ended cannot be extended`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      try await queue.write(["a"])
      let first = try await feed.take("s")
      #expect(try await feed.modifyLease("s", ackIds: first.map(\.ackId), lease: .milliseconds(1)) == 1)
      try await Task.sleep(for: .milliseconds(5))
      #expect(try await feed.modifyLease("s", ackIds: first.map(\.ackId), lease: .seconds(3600)) == 0)
      #expect(try await feed.ids("s") == ["a"])
    }
  }

  @Test(arguments: [
    EventSubscription(name: "s"), EventSubscription(name: "s", isOrdered: true),
    EventSubscription(name: "s", filter: FeedFilter(adNetworkIds: ["n"])),
  ])
  func `A reader whose lease ended neither extends nor ends the lease of the next reader`(_ subscription: EventSubscription) async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(subscription)
      try await queue.write([TestEvent(id: "a", attributes: EventAttributes(adNetworkId: "n"))])
      // An event is leased first as a new one, then as one whose lease ended, then as one that was given back.
      var before: [FeedEvent] = []
      for ending in [Duration.milliseconds(1), .zero, .milliseconds(1)] {
        let now = try await feed.take("s", lease: .seconds(3600))
        #expect(now.map(\.id) == ["a"])
        for stale in before {
          #expect(try await feed.modifyLease("s", ackIds: [stale.ackId], lease: .zero) == 0)
          #expect(try await feed.modifyLease("s", ackIds: [stale.ackId], lease: .milliseconds(1)) == 0)
        }
        try await Task.sleep(for: .milliseconds(5))
        #expect(try await feed.ids("s").isEmpty, "its reader still has it")
        #expect(try await feed.modifyLease("s", ackIds: now.map(\.ackId), lease: .seconds(3600)) == 1)
        #expect(try await feed.modifyLease("s", ackIds: now.map(\.ackId), lease: ending) == 1)
        try await Task.sleep(for: .milliseconds(5))
        before += now
      }
      #expect(try await feed.acknowledge("s", ackIds: before.prefix(1).map(\.ackId)) == 1, "it was processed")
    }
  }

  @Test func `In the first form of the store ids have no number of the lease, which older builds could not read`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.send(["SET", .string(Keys.form), "1"])
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(name: "s", types: [], start: .beginning)
      try await queue.write(["a"])
      let first = try await feed.take("s")
      #expect(first.map { $0.ackId.split(separator: ".").count } == [2])
      #expect(try await feed.modifyLease("s", ackIds: first.map(\.ackId), lease: .milliseconds(1)) == 1)
      try await Task.sleep(for: .milliseconds(5))
      #expect(try await feed.ids("s", lease: .seconds(3600)) == ["a"])
      #expect(try await feed.modifyLease("s", ackIds: first.map(\.ackId), lease: .zero) == 1)
    }
  }

  @Test(
    arguments: [
      ("17.5-1", 0, nil), ("17.5-1.2", 2, nil), ("17.5-1.0.1", 0, 1), ("17.5-1.2.3", 2, 3),
    ] as [(String, Int, Int?)])
  func `An id can be read back with and without its lease`(_ text: String, _ generation: Int, _ lease: Int?) throws {
    let id = try #require(AckID(text))
    #expect((id.text, id.generation, id.lease) == (text, generation, lease))
  }

  @Test(arguments: ["17", "17.5-1.", "17.5-1.0.", "17.5-1.0.x", "17.5-1.0.1.1", "256.5-1", "-1.5-1", "17.5", ""])
  func `Other text is no id`(_ text: String) { #expect(AckID(text) == nil) }

  @Test func `If the order of subjects is kept, a subject is leased to one reader until its events are acknowledged`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(EventSubscription(name: "s", types: ["t.a"], isOrdered: true))
      func event(_ id: String, type: String = "t.a") -> TestEvent {
        TestEvent(id: id, type: type, attributes: EventAttributes(bundleId: String(id.prefix(1))))
      }
      try await queue.write([event("a1"), event("b1"), event("a", type: "t.b"), event("a2"), event("a3"), event("c1"), event("b2")])
      var first: [FeedEvent] = []
      // One event at a time, starting at any shard.
      while first.count < 3 {
        let more = try await feed.take("s", limit: 1)
        try #require(!more.isEmpty)
        first += more
      }
      #expect(first.map(\.id) == ["a1", "b1", "c1"], "a2 and b2 wait for the first of their subjects")
      #expect(try await feed.ids("s").isEmpty)
      #expect(try await feed.acknowledge("s", ackIds: [first[0].ackId]) == 1)
      let second = try await feed.take("s")
      #expect(second.map(\.id) == ["a2", "a3"], "in their order, to one reader")
      // While a later event is leased, an earlier one that was given back is not leased to another reader.
      #expect(try await feed.modifyLease("s", ackIds: [second[0].ackId], lease: .zero) == 1)
      #expect(try await feed.ids("s").isEmpty)
      #expect(try await feed.modifyLease("s", ackIds: [second[1].ackId, first[1].ackId], lease: .zero) == 2)
      let third = try await feed.take("s")
      #expect(third.map(\.id) == ["b1", "a2", "a3", "b2"])
      #expect(try await feed.acknowledge("s", ackIds: third.map(\.ackId)) == 4)
      #expect(try await feed.backlog("s") == 1)
    }
  }

  @Test func `Events without a subject are not ordered, and a lease that ended keeps the order`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(EventSubscription(name: "s", isOrdered: true))
      let network = EventAttributes(adNetworkId: "n")
      try await queue.write([
        TestEvent(id: "x"), TestEvent(id: "n1", attributes: network), TestEvent(id: "y"), TestEvent(id: "n2", attributes: network),
      ])
      let first = try await feed.take("s")
      #expect(first.map(\.id) == ["x", "n1", "y", "n2"])
      #expect(try await feed.modifyLease("s", ackIds: first.map(\.ackId), lease: .milliseconds(1)) == 4)
      try await Task.sleep(for: .milliseconds(5))
      #expect(try await feed.ids("s") == ["x", "n1", "y", "n2"])
    }
  }

  @Test func `If all readers acknowledge in order, each subject's events come in order, with any number of readers`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(EventSubscription(name: "s", isOrdered: true))
      let subjects = ["a", "b", "c", "d", "e"]
      var expected: [String: [String]] = [:]
      for index in 0..<120 {
        let subject = subjects.randomElement() ?? "a"
        expected[subject, default: []].append("\(subject)\(index)")
        try await queue.write([TestEvent(id: "\(subject)\(index)", attributes: EventAttributes(bundleId: subject))], shard: Shard(9))
      }
      let log = OrderLog()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            while await log.count < 120 {
              // A reader that gives back an event also gives back the later ones.
              var given: Set<Substring> = []
              for event in (try? await feed.take("s", limit: Int.random(in: 1...50))) ?? [] {
                if Int.random(in: 0..<4) == 0 {
                  given.insert(event.id.prefix(1))
                }
                if given.contains(event.id.prefix(1)) {
                  _ = try? await feed.modifyLease("s", ackIds: [event.ackId], lease: .zero)
                } else {
                  await log.add(event.id)
                  _ = try? await feed.acknowledge("s", ackIds: [event.ackId])
                }
              }
            }
          }
        }
      }
      let seen = await log.ids
      #expect(seen.count == 120)
      for subject in subjects { #expect(seen.filter { $0.hasPrefix(subject) } == expected[subject] ?? []) }
      #expect(try await feed.backlog("s") == 0)
    }
  }

  private actor OrderLog {
    private(set) var ids: [String] = []
    var count: Int { ids.count }
    func add(_ id: String) { ids.append(id) }
  }
}
