import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct AcceptTests {
  @Test func `The same bytes again are a duplicate under the same id, and queued once`() async throws {
    try await withQueue { queue, _ in
      let first = try await queue.accept(request("a"))
      let second = try await queue.accept(request("a"))
      #expect(first == .accepted(first.id))
      #expect(second == .duplicate(first.id))
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 1)
      #expect(try await queue.delivery(first.id)?.state == .accepted)
      #expect(DeliveryID(first.id.description) == first.id)
    }
  }

  @Test func `A value is stored in the step that accepts; a second call gets it and queues nothing`() async throws {
    try await withQueue { queue, _ in
      func record(_ value: UInt8) -> OwnRecord { OwnRecord(service: "tests", name: "kept", value: [value, 0, 255], ttl: .seconds(60)) }
      let first = try await queue.accept(request("a"), keeping: record(1))
      guard case .accepted(.accepted(let id)) = first else { Issue.record("\(first)"); return }
      #expect(try await queue.accept(request("a"), keeping: record(2)) == .earlier([1, 0, 255]))
      #expect(try await queue.accept(request("a")) == .duplicate(id))
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 1)
      #expect(try await queue.redis.send(["TTL", .string(Keys.own("tests", "kept", id.shard))]).integer ?? 0 > 50)
    }
  }

  @Test func `A value is stored even if the backlog is full, and its delivery is accepted later`() async throws {
    try await withQueue({ $0.backlogBound = Shard.count }) { queue, _ in
      let full = request("full", copy: "1")
      _ = try await queue.accept(full)
      let record = OwnRecord(service: "tests", name: "kept", value: [7], ttl: .seconds(60))
      await #expect(throws: QueueError.backlogFull) { try await queue.accept(request("full", copy: "2"), keeping: record) }
      #expect(try await queue.accept(request("full", copy: "2"), keeping: record) == .earlier([7]))
      for lease in try await queue.leaseAll("w") { _ = try await queue.complete(lease, verified("full")) }
      #expect(try await !queue.accept(request("full", copy: "2")).isDuplicate)
    }
  }

  @Test func `A forged copy that arrives first does not hide the genuine one`() async throws {
    try await withQueue { queue, _ in
      let forged = try await queue.accept(request("a", copy: "forged"))
      let genuine = try await queue.accept(request("a", copy: "genuine"))
      #expect(!genuine.isDuplicate)
      #expect(forged.id.shard == genuine.id.shard)
      for lease in try await queue.leaseAll("w") {
        let isForged = lease.deliveryID == forged.id
        let completion = isForged ? Completion(state: .rejected, events: [], reason: "bad_signature") : verified("a")
        #expect(try await queue.complete(lease, completion) == .completed)
      }
      #expect(try await queue.allEvents() == ["e-a"])
      #expect(try await queue.delivery(forged.id)?.state == .rejected)
      #expect(try await queue.delivery(genuine.id)?.eventId == "e-a")
    }
  }

  @Test func `A natural key that was claimed before creates no second event`() async throws {
    try await withQueue { queue, _ in
      for copy in ["1", "2"] { _ = try await queue.accept(request("a", copy: copy)) }
      let leases = try await queue.leaseAll("w")
      #expect(leases.count == 2)
      #expect(try await queue.complete(leases[0], verified("a")) == .completed)
      #expect(try await queue.complete(leases[1], verified("a")) == .naturalKeySeen)
      #expect(try await queue.allEvents() == ["e-a"])
      #expect(try await queue.isNaturalKeySeen("a", orderKey: nil, long: false))
      #expect(try await queue.isNaturalKeySeen("b", orderKey: nil, long: false) == false)
    }
  }

  @Test func `The backlog accepts exactly its limit, and a duplicate is recognised even when it is full`() async throws {
    try await withQueue({ $0.backlogBound = 3 * Shard.count }) { queue, _ in
      let later = DeliveryQueue.now + 60_000
      for index in 0..<3 {
        _ = try await queue.accept(request("a\(index)", order: "o", notBefore: index == 0 ? later : nil))
      }
      await #expect(throws: QueueError.backlogFull) { _ = try await queue.accept(request("a3", order: "o")) }
      #expect(try await queue.accept(request("a1", order: "o")).isDuplicate)
      // There is room again: a refused delivery is not stored as a duplicate.
      let lease = try #require(try await queue.leaseAll("w").first)
      try await queue.complete(lease, Completion(state: .done, events: []))
      #expect(try await queue.accept(request("a3", order: "o")).isDuplicate == false)
    }
  }

  @Test func `A Redis that may lose data is refused with the setting's name, except in development`() async throws {
    let server = try RedisServer(appendOnly: "no")
    let client = try await server.client()
    var configuration = QueueConfiguration()
    do {
      _ = try await DeliveryQueue.open(redis: client, configuration: configuration, logger: quietLogger)
      Issue.record("it was accepted")
    } catch {
      guard case .unsafeRedis(let text) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(text.contains("appendonly is no"))
    }
    configuration.development = true
    _ = try await DeliveryQueue.open(redis: client, configuration: configuration, logger: quietLogger)
    client.close()
    await server.remove()
  }

  @Test func `Accepted deliveries survive a kill and restart of Redis`() async throws {
    try await withQueue { queue, server in
      var accepted: Set<DeliveryID> = []
      for index in 0..<40 { accepted.insert(try await queue.accept(request("a\(index)")).id) }
      let leased = try await queue.leaseAll("w")
      for lease in leased.prefix(10) { try await queue.complete(lease, verified(lease.message.attributes["natural"]!)) }
      await server.kill()
      await #expect(throws: QueueError.self) { _ = try await queue.accept(request("b")) }
      try server.start()
      try await eventually("Redis is back") { (try? await queue.send(["PING"])) != nil }
      for lease in try await queue.reclaimAll("x") {
        try await queue.complete(lease, verified(lease.message.attributes["natural"]!))
      }
      let events = try await queue.allEvents()
      #expect(Set(events) == Set((0..<40).map { "e-a\($0)" }))
      #expect(events.count == 40)
      #expect(try await queue.accept(request("a7")).isDuplicate)
    }
  }
}

@Suite struct KeyTests {
  @Test func `Every key has its shard's hash tag and no other braces`() {
    let shard = Shard(17)
    let id = DeliveryID(shard: shard, digest: String(repeating: "a", count: 32))
    var keys = [
      Keys.delivery(id), Keys.events(shard), Keys.eventsIndex(shard), Keys.rpc(shard, digest: "d"),
      Keys.seen(.delivery, generation: 1, bucket: 2, shard), Keys.seen(.notification, generation: 1, bucket: 2, shard),
    ]
    for queue in QueueName.allCases {
      keys += [
        Keys.ready(queue, shard), Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.dead(queue, shard),
      ]
    }
    for key in keys {
      #expect(key.contains("{attr:017}"))
      #expect(key.filter { $0 == "{" || $0 == "}" }.count == 2)
    }
    #expect(Set(keys).count == keys.count)
  }

  @Test func `A delivery id is read only in the form it is written`() {
    let digest = String(repeating: "0f", count: 16)
    #expect(DeliveryID("017-" + digest)?.description == "017-" + digest)
    for bad in ["", "17-" + digest, "256-" + digest, "+17-" + digest, "017-" + digest.uppercased(), "017-" + digest + "0"] {
      #expect(DeliveryID(bad) == nil, "\(bad)")
    }
  }
}
