import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct DeduplicationDetailTests {
  /// Settles all waiting messages. A message's copy is the detail of its natural key. The reason shows what was found of a repeat.
  private func work(_ queue: DeliveryQueue) async throws {
    try await queue.working(handler: { lease in
      let natural = lease.message.attributes["natural"] ?? ""
      var completion = verified(natural)
      completion.detail = Array(lease.message.body.dropFirst(natural.utf8.count + 1))
      let detail = completion.detail ?? []
      completion.whenClaimedBefore = {
        do {
          let found = try await queue.detail(detail, of: natural, besides: lease)
          return .complete(Completion(state: .verified, events: [], reason: "\(found)"))
        } catch { return .retry(after: nil, error: "\(error)") }
      }
      return .complete(completion)
    }) {
      try await eventually("all is worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
    }
  }

  private func found(_ queue: DeliveryQueue, _ natural: String, copy: String) async throws -> String? {
    // The bytes differ each time, but not in the detail.
    var delivery = request(natural, copy: copy, order: natural)
    delivery.idempotencyKey += "\(UInt64.random(in: 0 ... .max))"
    let id = try await queue.accept(delivery).id
    try await work(queue)
    return try await queue.delivery(id)?.reason
  }

  @Test func `Different details of a natural key are recognised as long as the key is stored`() async throws {
    try await withQueue({ $0.unsignedDigests = true }) { queue, _ in
      #expect(try await found(queue, "a", copy: "10") == nil)
      #expect(try await found(queue, "a", copy: "10") == "same")
      #expect(try await found(queue, "a", copy: "63") == "other")
      // The first detail is stored; later ones are not.
      #expect(try await found(queue, "a", copy: "63") == "other")
      #expect(try await found(queue, "a", copy: "10") == "same")
      // The detail is stored in the generation of the natural key, and is found in the next one too.
      let shard = queue.deliveryID(for: request("a", order: "a")).shard
      let length = queue.configuration.deliveryGeneration.milliseconds
      for scope in [DeduplicationScope.delivery, .detail] {
        let claim = queue.deduplication.claim("a", scope: scope, shard: shard, now: DeliveryQueue.now)
        let last = queue.deduplication.claim("a", scope: scope, shard: shard, now: DeliveryQueue.now - length)
        #expect((try await queue.send(["TTL", .string(claim.buckets[0])]).integer ?? -1) > 2 * length / 1000)
        _ = try await queue.send(["RENAME", .string(claim.buckets[0]), .string(last.buckets[0])])
      }
      #expect(try await found(queue, "a", copy: "10") == "same")
      #expect(try await found(queue, "a", copy: "63") == "other")
      #expect(try await queue.allEvents() == ["e-a"])
    }
  }

  @Test func `Without a stored digest the result is unknown`() async throws {
    try await withQueue { queue, server in
      #expect(try await found(queue, "a", copy: "10") == nil)
      #expect(try await queue.send(["KEYS", "*:seen:u:*"]).array?.count == 0)
      var configuration = QueueConfiguration()
      configuration.unsignedDigests = true
      let client = try await server.client()
      let keeping = try await DeliveryQueue.open(redis: client, configuration: configuration, logger: quietLogger)
      #expect(try await found(keeping, "a", copy: "10") == "unknown")
      #expect(try await found(keeping, "a", copy: "63") == "unknown")
      // A new bucket of details expires, even if the bucket of natural keys exists already.
      let shard = queue.deliveryID(for: request("a", order: "a")).shard
      let bucket = { (key: String, scope: DeduplicationScope) in
        keeping.deduplication.claim(key, scope: scope, shard: shard, now: DeliveryQueue.now).buckets[0]
      }
      let other = try #require((0..<100_000).lazy.map { "n\($0)" }.first { bucket($0, .delivery) == bucket("a", .delivery) })
      var delivery = request(other, copy: "10", order: "a")
      delivery.idempotencyKey += "beside"
      _ = try await keeping.accept(delivery)
      try await work(keeping)
      #expect((try await keeping.send(["TTL", .string(bucket(other, .detail))]).integer ?? -1) > 20 * 86_400)
      client.close()
    }
  }

  @Test func `Digests are stored in integer sets with four bytes per member, and rarely collide`() async throws {
    var configuration = QueueConfiguration()
    configuration.unsignedDigests = true
    let deduplication = DeduplicationStore(digestKey: [7], configuration: configuration)
    let details = (0..<64).map { deduplication.detail(Array("\($0)".utf8), of: "a", shard: Shard(3), now: 0) }
    #expect(Set(details.map(\.claim.bucket)).count == 1)
    #expect(details.allSatisfy { DeduplicationStore.Detail.isOfOneKey($0.member, details[0].member) })
    #expect(Set(details.map(\.member)).count >= 62)
    let others = (0..<1000).map { deduplication.detail(Array("1".utf8), of: "b\($0)", shard: Shard(3), now: 0) }
    #expect(others.filter { DeduplicationStore.Detail.isOfOneKey($0.member, details[0].member) }.count < 2)
    #expect(others.contains { $0.member < 0 } && others.contains { $0.member > 0 })
    // For any number of members, no digest is so large that Redis uses eight bytes for a member.
    try await withQueue { queue, _ in
      for other in others.prefix(300) { _ = try await queue.send(["SADD", "{attr:003}:x", .string(String(other.member))]) }
      #expect(try await queue.send(["OBJECT", "ENCODING", "{attr:003}:x"]).string == "intset")
      #expect((try await queue.send(["MEMORY", "USAGE", "{attr:003}:x"]).integer ?? .max) < 300 * 5)
    }
  }
}
