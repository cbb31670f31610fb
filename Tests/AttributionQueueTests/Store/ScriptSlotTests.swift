import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct ScriptSlotTests {
  /// The number of all scripts in `Scripts/`, so that no script is missing in this test.
  private static let count = 47

  @Test func `The keys of every script call share one hash tag`() async throws {
    try await withQueue({
      $0.maxDeliveries = 1
      $0.acknowledgedEventTTL = .zero
      $0.lease = .milliseconds(200)
      $0.workerTimeout = .milliseconds(200)
    }) { queue, server in
      let client = try await server.client()
      try await client.send(["CONFIG", "SET", "slowlog-max-len", "100000"])
      try await client.send(["CONFIG", "SET", "slowlog-log-slower-than", "0"])

      try await callEveryScript(queue)

      // The slow log contains the calls: EVALSHA or EVAL, the script, the number of keys, the keys.
      var scripts: Set<String> = []
      var calls = 0
      for entry in try await client.send(["SLOWLOG", "GET", "-1"]).array ?? [] {
        let words = (entry.array?[3].array ?? []).map { $0.string ?? "" }
        guard words.first == "EVALSHA" || words.first == "EVAL", let keyCount = Int(words[2]) else { continue }
        calls += 1
        if words[0] == "EVALSHA" { scripts.insert(words[1]) }
        let keys = words[3..<3 + keyCount]
        #expect(keyCount > 0)
        for key in keys { #expect(key.filter { $0 == "{" || $0 == "}" }.count == 2, "\(key)") }
        #expect(Set(keys.map { Keys.hashTag(of: $0) }).count == 1, "\(keys)")
      }
      #expect(scripts.count == Self.count)
      #expect(calls > Shard.count)
      client.close()
    }
  }

  private func callEveryScript(_ queue: DeliveryQueue) async throws {
    let administration = QueueAdministration(deliveries: queue)
    let feed = EventFeed(deliveries: queue)
    let store = RPCIdempotencyStore(deliveries: queue)
    let journal = IntakeJournal(redis: queue.redis)
    _ = try await journal.beat("a", outageAfter: .seconds(1))
    try await journal.note(
      environment: "Production", bundleId: "com.example.app", [.init(count: 1, first: 1, last: 1)], silenceAfter: .seconds(1))
    try await queue.commerceNotifications.add(
      .init(eventId: "e", type: "METADATA_UPDATE", subtype: nil, uuid: "u", signedDate: 1, references: ["r"]),
      bundleId: "com.example.app", .reference("r"))
    _ = try await feed.create(name: "s", types: [], start: .beginning)
    let later = try await queue.accept(request("later", notBefore: DeliveryQueue.now + 600_000)).id
    #expect(try await queue.expedite(later, in: .intake))
    _ = try await queue.accept(request("kept"), keeping: OwnRecord(service: "tests", name: "kept", value: [1], ttl: .seconds(60)))
    let last = try await queue.accept(request("last", notBefore: DeliveryQueue.now + 600_000)).id
    #expect(try await queue.makeReady([last], in: .intake) == 1)
    let poller = DelayedPoller(queue: .intake, deliveries: queue, blocking: queue.redis)
    _ = try await poller.queryDue()
    _ = try await queue.takeAll("d", .tokens, limit: 1)
    let leased = try await queue.accept(request("leased", queue: .tokens)).id
    let taken = try #require(try await queue.takeAll("e", .tokens, limit: 1).first { $0.deliveryID == leased })
    #expect(try await queue.keep(OwnRecord(service: "tests", name: "own", value: [1], ttl: .seconds(60)), while: taken))
    for name in ["complete", "dead"] { _ = try await queue.accept(request(name)) }
    for lease in try await queue.leaseAll("a") {
      switch lease.message.attributes["natural"] {
      case "complete":
        try await queue.renew(lease)
        try await queue.complete(lease, verified("complete"))
      case "dead": try await queue.deadLetter(lease, error: "x")
      default: try await queue.retry(lease, after: .zero, error: "x")
      }
    }
    let rejected = try await queue.accept(request("rejected")).id
    for lease in try await queue.leaseAll("a") where lease.deliveryID == rejected {
      var completion = Completion(state: .rejected, events: [], reason: "x")
      completion.keptBody = KeptBody()
      try await queue.complete(lease, completion)
    }
    #expect(try await queue.reverify([rejected]).map(\.state) == [.queued])
    _ = try await queue.reclaimAll("b")
    try await UnreadableEntryTests.addDeadLetter(queue)
    #expect(try await administration.snapshot(.intake).dead == 2)
    #expect(try await administration.replay(.intake, ids: []) == 1)
    #expect(try await feed.pull("s", limit: 10, wait: .seconds(1), lease: .seconds(30)).count == 1)
    _ = try await feed.modifyLease("s", ackIds: ["0.1-1"], lease: .zero)
    let pushed = try await feed.create(EventSubscription(name: "p", types: ["t.b"], start: .time(1), push: [:]))
    _ = try await feed.setPush("p") { $0 }
    _ = try await feed.note([.init(shard: Shard(0), position: nil, unsettled: nil, clearsUnsettled: true)], of: pushed)
    try await feed.setEndpointHealth(pushed, [])
    _ = try await feed.delete("none")
    _ = try await feed.publish(EventRecord(id: "told", type: "t.a", json: []))
    _ = try await feed.trim()
    _ = try await feed.tail(Shard(3), after: .beginning, limit: 1)
    _ = try await PusherRegistry(feed: feed, timeout: .seconds(10)).beat("p", givingBack: ["x"], wanting: ["y"])
    guard case .new(let owner) = try await store.claim(scope: "s", fingerprint: "f", lease: .seconds(30)) else {
      Issue.record("the key was not new")
      return
    }
    try await store.renew(scope: "s", owner: owner, lease: .seconds(30))
    try await store.finish(scope: "s", owner: owner, status: 200, code: "", body: [])
    // The message of a worker that died.
    let owned = try await queue.accept(request("owned")).id
    _ = try await ShardOwnership(text: "").take(.intake, owned.shard, for: "gone", isAbandoned: false, queue)
    try await queue.working(handler: { _ in .complete(verified("owned")) }) {
      try await eventually("it is worked") { try await queue.delivery(owned)?.state == .dead }
      let plain = try await queue.accept(request("plain")).id
      try await eventually("it is settled") { try await queue.delivery(plain)?.state == .verified }
    }
    // Faults that the check reads again and repairs.
    _ = try await queue.send(["HSET", .string(Keys.eventsIndex(Shard(3))), "gone", "1-1"])
    _ = try await queue.send(["HSET", .string(Keys.suspects(.intake, Shard(3))), "1-1", "1"])
    #expect(try await StoreCheckTests.check(queue, repairs: true).agrees)
  }

  @Test func `Claimed keys are stored in integer sets, with members of any sign`() async throws {
    try await withQueue({ $0.seenBuckets = 1 }) { queue, _ in
      // All keys are in one shard and one bucket, up to Redis' limit for integer sets.
      for index in 0..<512 { _ = try await queue.accept(request("n\(index)", order: "one")) }
      let claim = queue.deduplication.claim(
        "x", scope: .delivery, shard: queue.deliveryID(for: request("x", order: "one")).shard, now: DeliveryQueue.now)
      let bucket = RedisArgument.string(claim.buckets[0])
      #expect(try await queue.send(["SCARD", bucket]).integer == 512)
      #expect(try await queue.send(["OBJECT", "ENCODING", bucket]).string == "intset")
      let members = (try await queue.send(["SMEMBERS", bucket]).array ?? []).compactMap(\.integer)
      #expect(members.contains { $0 < 0 } && members.contains { $0 > 0 })
      #expect((try await queue.send(["TTL", bucket]).integer ?? -1) > 10 * 86_400)
    }
  }

  @Test func `A key of the last generation is seen, and one of the generation before it is not`() async throws {
    try await withQueue { queue, _ in
      let length = queue.configuration.deliveryGeneration.milliseconds
      let delivery = request("one")
      let id = queue.deliveryID(for: delivery)
      func put(generationsAgo: Int64) async throws {
        let now = DeliveryQueue.now - generationsAgo * length
        let claim = queue.deduplication.claim(delivery.idempotencyKey, scope: .delivery, shard: id.shard, now: now)
        try await queue.redis.send(["SADD", .string(claim.buckets[0]), .integer(claim.member)])
      }
      try await put(generationsAgo: 2)
      #expect(try await queue.accept(delivery) == .accepted(id))
      try await queue.redis.send(["FLUSHALL"])
      try await put(generationsAgo: 1)
      #expect(try await queue.accept(delivery) == .duplicate(id))
    }
  }

  @Test func `A worker takes its shards again after Redis lost all data`() async throws {
    try await withQueue { queue, _ in
      let done: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        .complete(verified(lease.message.attributes["natural"] ?? ""))
      }
      try await queue.working(handler: done) {
        let before = try await queue.accept(request("before")).id
        try await eventually("the first is worked") { try await queue.delivery(before)?.state == .verified }
        try await queue.redis.send(["FLUSHALL"])
        let after = try await queue.accept(request("after")).id
        try await eventually("the second is worked") { try await queue.delivery(after)?.state == .verified }
      }
      #expect(try await queue.allEvents() == ["e-after"])
    }
  }

  @Test func `All services that share a Redis share its digest key, and thereby the ids`() async throws {
    try await withQueue { queue, server in
      let client = try await server.client()
      let other = try await DeliveryQueue.open(
        redis: client, configuration: QueueConfiguration(), logger: quietLogger)
      #expect(queue.deliveryID(for: request("x")) == other.deliveryID(for: request("x")))
      let first = try await queue.accept(request("x"))
      #expect(try await other.accept(request("x")) == .duplicate(first.id))
      client.close()
    }
  }
}
