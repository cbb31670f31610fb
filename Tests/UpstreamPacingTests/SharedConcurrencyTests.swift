import RedisClient
import RedisTestSupport
import TestSupport
import Testing

@testable import UpstreamPacing

@Suite("Shared concurrency")
struct SharedConcurrencyTests {
  func instance(
    _ name: String, _ client: RedisClient, total: Int = 12, maxShare: Int = 12, lease: Duration = .seconds(30),
    _ absence: StoreOutagePolicy = .refuses
  ) -> SharedConcurrency {
    SharedConcurrency(
      redis: client, key: "{c}:c", instance: name, total: total, maxShare: maxShare, lease: lease, onOutage: absence)
  }

  @Test("a single instance may use all permits, and returns those that another one wants when they become free")
  func parts() async throws {
    try await withRedis { client, _ in
      let first = instance("a", client)
      let second = instance("b", client)
      #expect(first.acquire(12) == 0)
      await first.adjust()
      #expect(first.acquire(12) == 12)
      _ = second.acquire(12)
      await second.adjust()
      // All permits are in use.
      #expect(second.permits == 0)
      first.release(3)
      await first.adjust()
      _ = second.acquire(12)
      await second.adjust()
      #expect(first.permits == 9 && second.permits == 3)
      first.release(9)
      _ = first.acquire(12)
      _ = second.acquire(12)
      await first.adjust()
      await second.adjust()
      #expect(first.permits + second.permits <= 12)
      #expect(second.permits >= 3)
    }
  }

  @Test("the instances never have more permits than the limit")
  func property() async throws {
    try await withRedis { client, _ in
      var random = SeededRandom("shared concurrency")
      for round in 0..<10 {
        try await client.send(["FLUSHALL"])
        let total = Int.random(in: 1...20, using: &random)
        let instances = (0..<Int.random(in: 1...5, using: &random)).map {
          instance("\(round)-\($0)", client, total: total, maxShare: Int.random(in: 1...20, using: &random))
        }
        var used = Array(repeating: 0, count: instances.count)
        for _ in 0..<40 {
          let index = Int.random(in: instances.indices, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: await instances[index].adjust()
          case 1: used[index] += instances[index].acquire(Int.random(in: 1...20, using: &random))
          default:
            let back = Int.random(in: 0...used[index], using: &random)
            instances[index].release(back)
            used[index] -= back
          }
          #expect(used.reduce(0, +) <= total)
          #expect(instances.map(\.permits).reduce(0, +) <= total)
        }
        // When no permit is used, each instance that wants some gets at least one while there are enough.
        for index in instances.indices { instances[index].release(used[index]) }
        for _ in 0..<3 {
          for instance in instances {
            instance.release(instance.acquire(20))
            await instance.adjust()
          }
        }
        if instances.count <= total { for instance in instances { #expect(instance.permits >= 1) } }
      }
    }
  }

  @Test("the part of an instance that died is free when its lease has ended")
  func death() async throws {
    try await withRedis { client, _ in
      let dead = instance("dead", client, lease: .seconds(3))
      _ = dead.acquire(12)
      await dead.adjust()
      #expect(dead.acquire(12) == 12)
      let heir = instance("heir", client)
      var had = 0
      for _ in 0..<1000 where had < 12 {
        had += heir.acquire(12)
        await heir.adjust()
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(had == 12)
      // The instance has noticed that its lease has ended.
      #expect(dead.permits == 0)
    }
  }

  @Test("without Redis it has no permits after its lease, or all of its own, as configured")
  func absence() async throws {
    try await withRedis { client, redis in
      await redis.kill()
      let closed = instance("a", client)
      let alone = instance("b", client, total: 12, maxShare: 5, .limitsLocally)
      await closed.adjust()
      await alone.adjust()
      #expect(closed.acquire(3) == 0)
      #expect(alone.acquire(9) == 5)
    }
  }
}
