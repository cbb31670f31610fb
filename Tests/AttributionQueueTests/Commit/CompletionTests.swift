import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct CompletionTests {
  private func rejected(_ id: String, again: Bool = false, keeps: Bool = false) -> Completion {
    var completion = Completion(
      state: .rejected, events: [EventRecord(id: "r-" + id, type: "t.r", json: Array("{\"id\":\"r-\(id)\"}".utf8))], reason: "x")
    completion.mayBeAcceptedAgain = again
    completion.keptBody = keeps ? KeptBody() : nil
    return completion
  }

  @Test func `Messages of a shard are settled together, each by its own lease`() async throws {
    try await withQueue { queue, _ in
      for index in 0..<4 { _ = try await queue.accept(request("n\(index)", order: "one")) }
      _ = try await queue.accept(request("n1", copy: "again", order: "one"))
      let leases = try await queue.leaseAll("a")
      try #require(leases.count == 5)
      // Another consumer takes over one of the leases.
      _ = try await queue.reclaimAll("b")
      let mine = try await queue.reclaimAll("a")
      try #require(mine.count == 5)
      _ = try await queue.send([
        "XCLAIM", .string(Keys.ready(.intake, mine[2].shard)), .string(DeliveryQueue.group), "b", "0", .string(mine[2].entryID),
      ])
      let outcomes = try await queue.complete(mine.map { ($0, verified($0.message.attributes["natural"] ?? "")) })
      #expect(outcomes == [.completed, .completed, nil, .completed, .naturalKeySeen])
      #expect(try await queue.allEvents() == ["e-n0", "e-n1", "e-n3"])
      #expect(try await queue.leased() == 1)
      // A repeated call with a lost lease gets the same answer.
      #expect(try await queue.complete([(leases[0], verified("n0"))]) == [nil])
    }
  }

  @Test func `A natural key that was counted in the previous or the next generation is seen, and a new bucket expires`() async throws {
    try await withQueue {
      $0.clockDifference = $0.deliveryGeneration
    } _: { queue, _ in
      // Generations relative to the current one. The next one is that of an instance whose clock is ahead.
      let counted: [(natural: String, at: Int64)] = [("before", -1), ("ahead", 1), ("long ago", -2), ("far ahead", 2), ("now", 0)]
      for natural in counted.map(\.natural) + ["never"] { _ = try await queue.accept(request(natural, order: "one")) }
      let leases = try await queue.leaseAll("a")
      let shard = try #require(leases.first?.shard)
      let claim = { (natural: String, generation: Int64) in
        queue.deduplication.claim(
          natural, scope: .delivery, shard: shard, now: DeliveryQueue.now + generation * queue.configuration.deliveryGeneration.milliseconds
        )
      }
      for (natural, generation) in counted {
        let claim = claim(natural, generation)
        try await queue.redis.send(["SADD", .string(claim.buckets[0]), .integer(claim.member)])
      }
      let bucket = RedisArgument.string(claim("now", 0).buckets[0])
      try await queue.redis.send(["EXPIRE", bucket, "1000"])
      let naturals = leases.map { $0.message.attributes["natural"] ?? "" }
      let outcomes = try await queue.complete(zip(leases, naturals).map { ($0, verified($1)) })
      #expect(
        Dictionary(uniqueKeysWithValues: zip(naturals, outcomes)) == [
          "before": .naturalKeySeen, "ahead": .naturalKeySeen, "long ago": .completed, "far ahead": .completed, "now": .naturalKeySeen,
          "never": .completed,
        ])
      let own = claim("now", 0).buckets[0]
      for natural in ["long ago", "never"] where claim(natural, 0).buckets[0] != own {
        #expect((try await queue.send(["TTL", .string(claim(natural, 0).buckets[0])]).integer ?? -1) > 10 * 86_400)
      }
      // An existing bucket keeps its expiry, even if others are new.
      #expect((1...1000).contains(try await queue.send(["TTL", bucket]).integer ?? -1))
      // A call that creates no bucket.
      _ = try await queue.accept(request("now", copy: "again", order: "one"))
      let again = try await queue.leaseAll("a")
      #expect(try await queue.complete(again.map { ($0, verified("now")) }) == [.naturalKeySeen])
    }
  }

  @Test func `A key that a batch claims twice counts once, even if the clock was set back over the end of a generation`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a", order: "one"))
      _ = try await queue.accept(request("a", copy: "again", order: "one"))
      let leases = try await queue.leaseAll("a")
      try #require(leases.count == 2)
      let ahead = DeliveryQueue.now + queue.configuration.deliveryGeneration.milliseconds
      let outcomes = try await queue.complete(leases.map { ($0, verified("a")) }, now: [ahead, DeliveryQueue.now])
      #expect(outcomes == [.completed, .naturalKeySeen])
      #expect(try await queue.allEvents() == ["e-a"])
    }
  }

  @Test func `A bucket that a forgotten key leaves empty expires when a message of the same step needs it again`() async throws {
    try await withQueue { queue, _ in
      let first = request("first", order: "one")
      let shard = queue.deliveryID(for: first).shard
      let bucket = { (key: String) in queue.deduplication.claim(key, scope: .delivery, shard: shard, now: DeliveryQueue.now).buckets[0] }
      let emptied = bucket(first.idempotencyKey)
      // The second message's natural key falls into the bucket of the first one's idempotency key; its own idempotency key does not.
      let natural = try #require(
        (0..<100_000).lazy.map { "n\($0)" }.first { bucket($0) == emptied && bucket(request($0, order: "one").idempotencyKey) != emptied })
      _ = try await queue.accept(first)
      _ = try await queue.accept(request(natural, order: "one"))
      let leases = try await queue.leaseAll("a")
      try #require(leases.count == 2 && leases[0].message.attributes["natural"] == "first")
      let outcomes = try await queue.complete([(leases[0], rejected("first", again: true)), (leases[1], verified(natural))])
      #expect(outcomes == [.completed, .completed])
      #expect(try await queue.send(["SCARD", .string(emptied)]).integer == 1)
      #expect((try await queue.send(["TTL", .string(emptied)]).integer ?? -1) > 10 * 86_400)
    }
  }

  @Test func `A record's expiry starts at the acceptance, and again at a late end or if the record is missing`() async throws {
    try await withQueue { queue, _ in
      let kept = queue.configuration.deliveryRecordTTL.wholeSeconds
      for name in ["soon", "late", "gone"] { _ = try await queue.accept(request(name, order: "one")) }
      let leases = try await queue.leaseAll("a")
      let keys = leases.map { RedisArgument.string(Keys.delivery($0.deliveryID)) }
      for key in keys { try await queue.redis.send(["EXPIRE", key, "1000"]) }
      try await queue.redis.send(["DEL", keys[2]])
      let late = DeliveryQueue.now + queue.configuration.deliveryRecordTTL.milliseconds / 24 + 1000
      let outcomes = try await queue.complete(
        leases.map { ($0, verified($0.message.attributes["natural"] ?? "")) }, now: [DeliveryQueue.now, late, DeliveryQueue.now])
      #expect(outcomes == [.completed, .completed, .completed])
      var times: [Int64] = []
      for key in keys { times.append(try await queue.send(["TTL", key]).integer ?? -1) }
      #expect((900...1000).contains(times[0]))
      for time in times[1...] { #expect((kept - 60...kept).contains(time)) }
      for lease in leases { #expect(try await queue.delivery(lease.deliveryID)?.state == .verified) }
    }
  }

  @Test func `All events of a message are published, each with its filter attributes`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(request("a", order: "one")).id
      var completion = verified("a")
      completion.events += ["second", "third"].map {
        EventRecord(id: $0, type: "t.\($0)", json: Array("{\"id\":\"\($0)\"}".utf8), attributes: EventAttributes(bundleId: "b.\($0)"))
      }
      let leases = try await queue.leaseAll("a")
      #expect(try await queue.complete(leases.map { ($0, completion) }) == [.completed])
      let events = try await EventFeed(deliveries: queue).read(
        id.shard, after: FeedPosition(entry: EntryID(milliseconds: 0, number: 0)), limit: 10)
      #expect(events.map(\.id) == ["e-a", "second", "third"])
      #expect(events.map(\.attributes?.bundleId) == [nil, "b.second", "b.third"])
      #expect(events.map { String(decoding: $0.json, as: UTF8.self) }.last == "{\"id\":\"third\"}")
    }
  }

  @Test func `Outcomes of every kind are settled in one step`() async throws {
    try await withQueue { queue, _ in
      queue.linesEnteredWhenVerified.withLock { $0 = false }
      for name in ["counted", "body", "own", "letter"] { _ = try await queue.accept(request(name, order: "one")) }
      _ = try await queue.accept(request("counted", copy: "again", order: "one"))
      for name in ["first", "second"] { _ = try await queue.accept(request(name, order: "one", keepsOrder: true)) }
      var leases: [String: LeasedMessage] = [:]
      for lease in try await queue.leaseAll("a") { leases[String(decoding: lease.message.body, as: UTF8.self)] = lease }
      // The second message of the order line is not ready before the first is finished.
      try #require(leases.count == 6 && leases["second/"] == nil)

      var held = verified("counted")
      held.whenClaimedBefore = { .giveBack }
      var own = Completion(state: .done, events: [])
      own.ownRecord = OwnRecord(service: "s", name: "n", value: [1, 2], ttl: .seconds(100))
      var letter = Completion(state: .rejected, events: [], reason: "why")
      letter.deadLetter = "no hope"
      let work = [
        ("counted/", verified("counted")), ("counted/again", held), ("body/", rejected("body", again: true, keeps: true)), ("own/", own),
        ("letter/", letter), ("first/", verified("first")),
      ].compactMap { name, completion in leases[name].map { (lease: $0, completion: completion) } }
      #expect(try await queue.complete(work) == [.completed, .held, .completed, .completed, .completed, .completed])

      #expect(try await queue.allEvents() == ["e-counted", "r-body", "e-first"])
      for event in ["e-counted", "r-body", "e-first"] {
        #expect(try await queue.send(["HEXISTS", .string(Keys.eventsIndex(work[0].lease.shard)), .string(event)]).integer == 1)
      }
      let record = try #require(try await queue.delivery(work[2].lease.deliveryID))
      #expect(record.state == .rejected && record.reason == "x" && record.eventId == "r-body" && record.attempts == 1)
      #expect(record.acceptedAt == work[2].lease.message.receivedAt && record.completedAt != nil && record.queue == "intake")
      #expect(try await queue.delivery(work[1].lease.deliveryID)?.state == .accepted)
      #expect(try await queue.rejectedBody(work[2].lease.deliveryID) == Array("body/".utf8))
      #expect(try await queue.send(["GET", .string(Keys.own("s", "n", work[3].lease.shard))]).bytes == [1, 2])
      let letters = try await QueueAdministration(deliveries: queue).deadLetters(.intake, limit: 10)
      #expect(letters.map(\.lastError) == ["no hope"] && letters.first?.attempts == 1)
      // The held message is still leased, and the second of the order line is ready.
      #expect(try await queue.complete([work[1]]) == [.held])
      #expect(try await queue.leaseAll("a").map { String(decoding: $0.message.body, as: UTF8.self) } == ["second/"])
      // Each key counts separately: the rejected body can be accepted again.
      #expect(try await queue.accept(request("body", order: "one")).isDuplicate == false)
      #expect(try await queue.accept(request("own", order: "one")).isDuplicate)
    }
  }

  @Test func `A delivery that was rejected for a temporary reason can be accepted again, and is one event`() async throws {
    try await withQueue { queue, _ in
      for again in [true, false] {
        let one = request(again ? "again" : "never")
        for turn in 0..<2 {
          let outcome = try await queue.accept(one)
          #expect(outcome.isDuplicate == (turn > 0 && !again))
          for lease in try await queue.leaseAll("a") { try await queue.complete(lease, rejected(one.idempotencyKey, again: again)) }
        }
      }
      #expect(try await queue.allEvents().sorted() == ["r-again/", "r-never/"])
      // It is verified later and counts once.
      #expect(try await queue.accept(request("again")).isDuplicate == false)
      for lease in try await queue.leaseAll("a") { #expect(try await queue.complete(lease, verified("again")) == .completed) }
      #expect(try await queue.accept(request("again")).isDuplicate)
      #expect(try await queue.allEvents().filter { $0 == "e-again" }.count == 1)
    }
  }

  @Test func `The handler decides again about a message whose natural key was claimed before`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("a", copy: "1"))
      _ = try await queue.accept(request("a", copy: "2"))
      try await queue.working(handler: { lease in
        var completion = verified("a")
        completion.whenClaimedBefore = {
          .complete(Completion(state: .rejected, events: [EventRecord(id: "second", type: "t.r", json: Array("{}".utf8))]))
        }
        return .complete(completion)
      }) {
        try await eventually("both are settled") { try await queue.allEvents().count == 2 }
      }
      #expect(try await queue.allEvents().sorted() == ["e-a", "second"])
      #expect(try await queue.leased() == 0)
    }
  }
}
