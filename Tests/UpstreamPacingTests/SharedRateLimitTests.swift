import RedisClient
import RedisTestSupport
import TestSupport
import Testing

@testable import UpstreamPacing

@Suite("Shared rate limit")
struct SharedRateLimitTests {
  @Test("the script and the bucket decide alike, and a lost script cache is survived")
  func model() async throws {
    try await withRedis { client, _ in
      var random = SeededRandom("shared rate limit")
      for round in 0..<30 {
        let rule = try #require(
          RateRule(perSecond: .random(in: 100...100_000, using: &random), burst: .random(in: 1...40, using: &random)))
        let limits = (0..<2).map { _ in
          SharedRateLimit(redis: client, key: "{r}:\(round)", rule: rule, onOutage: .refuses)
        }
        var bucket = RateBucket()
        for step in 0..<60 {
          if step == 30 { try await client.send(["SCRIPT", "FLUSH"]) }
          let limit = limits.randomElement(using: &random)!
          if Int.random(in: 0..<15, using: &random) == 0 {
            let hold = Duration.microseconds(Int64.random(in: 1...20_000, using: &random))
            let reply = try #require(await limit.runScript(0...0, maxWait: .zero, hold: hold))
            bucket.hold(until: reply.now + hold.microseconds)
            continue
          }
          let minUnits = Int.random(in: 1...rule.burst + 5, using: &random)
          let range = minUnits...Int.random(in: minUnits...minUnits + 10, using: &random)
          let maxWait = Duration.microseconds(Int64.random(in: 0...50_000, using: &random))
          let reply = try #require(await limit.runScript(range, maxWait: maxWait, hold: .zero))
          let expected = bucket.reserve(range, rule: rule, maxWait: maxWait.microseconds, now: reply.now)
          #expect(reply.grant == expected)
        }
      }
    }
  }

  @Test("limits under different keys are independent, and an unused limit leaves no key")
  func keys() async throws {
    try await withRedis { client, _ in
      let rule = try #require(RateRule(perSecond: 1, burst: 1))
      let first = SharedRateLimit(redis: client, key: "{r}:first", rule: rule, onOutage: .refuses)
      let second = SharedRateLimit(redis: client, key: "{r}:second", rule: rule, onOutage: .refuses)
      #expect(await first.reserve() == .granted(units: 1, wait: .zero))
      guard case .refused = await first.reserve() else {
        Issue.record("the burst is one")
        return
      }
      #expect(await second.reserve() == .granted(units: 1, wait: .zero))
      let life = try await client.send(["PTTL", "{r}:first"]).integer ?? -1
      #expect(life > 0 && life <= 2100)
    }
  }

  @Test("a hold applies to every instance")
  func hold() async throws {
    try await withRedis { client, _ in
      let rule = try #require(RateRule(perSecond: 1000, burst: 10))
      let one = SharedRateLimit(redis: client, key: "{r}:h", rule: rule, onOutage: .refuses)
      let other = SharedRateLimit(redis: client, key: "{r}:h", rule: rule, onOutage: .refuses)
      await one.hold(for: .seconds(60))
      guard case .refused(let wait) = await other.reserve(1...5) else {
        Issue.record("granted in spite of the hold")
        return
      }
      #expect(wait > .seconds(50) && wait <= .seconds(60))
    }
  }

  @Test("without Redis it refuses, or applies the limit locally, as configured")
  func absence() async throws {
    try await withRedis { client, redis in
      await redis.kill()
      let rule = try #require(RateRule(perSecond: 0.001, burst: 2))
      let closed = SharedRateLimit(redis: client, key: "{r}:a", rule: rule, onOutage: .refuses)
      #expect(await closed.reserve() == .refused(wait: SharedRateLimit.outageWait))
      let alone = SharedRateLimit(redis: client, key: "{r}:a", rule: rule, onOutage: .limitsLocally)
      #expect(await alone.reserve(1...5) == .granted(units: 2, wait: .zero))
      guard case .refused = await alone.reserve() else {
        Issue.record("its own limit is not kept")
        return
      }
    }
  }
}
