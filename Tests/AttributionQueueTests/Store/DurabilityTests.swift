import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct DurabilityTests {
  private func open(_ server: RedisServer, _ configure: (inout QueueConfiguration) -> Void) async throws -> DeliveryQueue {
    var configuration = QueueConfiguration()
    configure(&configuration)
    return try await DeliveryQueue.open(redis: try await server.client(), configuration: configuration, logger: quietLogger)
  }

  @Test(arguments: [
    ("always", Durability.process, true), ("everysec", .process, true), ("no", .process, false),
    ("always", .disk, true), ("everysec", .disk, false), ("everysec", .replicated, false),
  ])
  func `A Redis with too weak persistence for the durability level is refused`(policy: String, level: Durability, isTaken: Bool)
    async throws
  {
    let server = try RedisServer()
    do {
      try await server.client().send(["CONFIG", "SET", "appendfsync", .string(policy)])
      if isTaken {
        _ = try await open(server) { $0.durability = level }
      } else {
        let error = await #expect(throws: QueueError.self) { _ = try await open(server) { $0.durability = level } }
        #expect("\(error!)".contains("appendfsync is \(policy)") && "\(error!)".contains(level.rawValue))
      }
    } catch {
      await server.remove()
      throw error
    }
    await server.remove()
  }

  @Test func `At level replicated an accept and a repeat of it count when a replica has them, and not before`() async throws {
    let (primary, replica) = (try RedisServer(port: true), try RedisServer())
    do {
      let queue = try await open(primary) {
        $0.durability = .replicated
        $0.replicationTimeout = .milliseconds(300)
      }
      // A busy machine may take a while, which says nothing about the replica.
      let patient = try await open(primary) {
        $0.durability = .replicated
        $0.replicationTimeout = .seconds(30)
      }
      // Without a replica, the delivery is stored but not confirmed, and neither is its repeat.
      for _ in 0..<2 {
        await #expect(throws: QueueError.unavailable(.notReplicated)) { try await queue.accept(request("a")) }
      }
      let follower = try await replica.client()
      try await follower.send(["REPLICAOF", "127.0.0.1", .integer(Int64(primary.port))])
      try await eventually("the replica follows") { (try? await patient.accept(request("b"))) != nil }
      #expect(try await patient.accept(request("a")).isDuplicate)
      #expect(try await follower.send(["EXISTS", .string(Keys.delivery(queue.deliveryID(for: request("a"))))]).integer == 1)
      await replica.kill()
      await #expect(throws: QueueError.unavailable(.notReplicated)) { try await queue.accept(request("c")) }
    } catch {
      await primary.remove()
      await replica.remove()
      throw error
    }
    await primary.remove()
    await replica.remove()
  }

  @Test func `A repeat is confirmed only while the first claim exists, because a replica without it may have taken over`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(request("a")).id
      let claim = queue.deduplication.claim(request("a").idempotencyKey, scope: .delivery, shard: id.shard, now: DeliveryQueue.now)
      let key = Keys.confirmation(id.shard)
      func confirm() async throws -> Int64? {
        try await queue.run(Scripts.confirm, [key] + claim.buckets, [.integer(claim.member)]).integer
      }
      #expect(try await confirm() == 1)
      #expect(try await queue.send(["DEL", .string(key)]).integer == 1)
      try await queue.redis.send(["SREM", .string(claim.buckets[0]), .integer(claim.member)])
      #expect(try await confirm() == 0)
      #expect(try await queue.send(["EXISTS", .string(key)]).integer == 0)
      // The claim is also found in the last generation.
      try await queue.redis.send(["SADD", .string(claim.buckets[1]), .integer(claim.member)])
      #expect(try await confirm() == 1)
    }
  }

  @Test func `A replica is refused`() async throws {
    let server = try RedisServer()
    do {
      // The primary does not exist: the role that the server reports counts.
      try await server.client().send(["REPLICAOF", "127.0.0.1", "1"])
      let error = await #expect(throws: QueueError.self) { _ = try await open(server) { $0.durability = .replicated } }
      #expect("\(error!)".contains("needs the primary"))
    } catch {
      await server.remove()
      throw error
    }
    await server.remove()
  }
}
