import AppleAttribution
import TestSupport
import Testing

@Suite("AdServices retry rule")
struct AdServicesRetryRuleTests {
  let createdAt: Int64 = 1_790_000_000_000
  let day: Int64 = 86_400_000
  let rule = AdServicesRetryRule()

  func next(
    _ response: AdServicesResponse, _ history: inout AdServicesRetryRule.History, after: Int64, retryAfter: Int64? = nil,
    chance: Double = 0.5, rule: AdServicesRetryRule? = nil
  ) -> AdServicesRetryRule.Action {
    (rule ?? self.rule).next(
      after: response, history: &history, createdAt: createdAt, now: createdAt + after, retryAfter: retryAfter,
      chance: chance)
  }

  @Test("the first call is five seconds after creation, immediate for an older token, and never for an expired one")
  func first() {
    #expect(rule.start(createdAt: createdAt, now: createdAt) == .call(at: createdAt + 5000))
    #expect(rule.start(createdAt: createdAt, now: createdAt + 30_000) == .call(at: createdAt + 30_000))
    #expect(rule.start(createdAt: createdAt, now: createdAt + day) == .call(at: createdAt + day))
    #expect(rule.start(createdAt: createdAt, now: createdAt + day + 1) == .finish(.expired, nil))
    #expect(AdServicesRetryRule(firstCallDelay: 0).start(createdAt: createdAt, now: createdAt) == .call(at: createdAt))
    #expect(AdServicesRetryRule(firstCallDelay: 99_000).firstCallDelay == 60_000)
  }

  @Test("a 404 is retried three times five seconds apart, then the record is not found")
  func notFound() {
    var history = AdServicesRetryRule.History()
    for _ in 1...3 { #expect(next(.notFound, &history, after: 5000) == .call(at: createdAt + 10_000)) }
    #expect(next(.notFound, &history, after: 20_000) == .finish(.notFound, nil))
  }

  @Test("a 404 for a token older than 24 hours means that it has expired")
  func lateNotFound() {
    var history = AdServicesRetryRule.History()
    #expect(next(.notFound, &history, after: day) == .finish(.expired, nil))
    #expect(next(.notFound, &history, after: day - 1000) == .finish(.expired, nil))
  }

  @Test("with the slow lane enabled, a token that is not found continues there")
  func slowNotFound() {
    let rule = AdServicesRetryRule(slowLaneAfterNotFound: true)
    var history = AdServicesRetryRule.History(notFound: 3)
    #expect(next(.notFound, &history, after: 20_000, chance: 1, rule: rule) == .call(at: createdAt + 80_000))
  }

  @Test("failures wait at most 1 min, 5 min, 30 min, 2 h and 6 h, and never past the token's lifetime")
  func slowLane() {
    var history = AdServicesRetryRule.History()
    var waits: [Int64] = []
    for _ in 1...6 {
      guard case .call(let at) = next(.tryLater(.status(500)), &history, after: 0, chance: 1) else { break }
      waits.append(at - createdAt)
    }
    #expect(waits == [60_000, 300_000, 1_800_000, 7_200_000, 21_600_000, 21_600_000])
    #expect(next(.tryLater(.transport("timed out")), &history, after: day - 1000, chance: 1) == .finish(.expired, nil))
  }

  @Test("near the deadline a retry waits for at most half of the remaining time")
  func lastWaits() {
    var history = AdServicesRetryRule.History(slow: 4)
    let hour: Int64 = 3_600_000
    #expect(next(.tryLater(.status(500)), &history, after: day - hour, chance: 1) == .call(at: createdAt + day - hour / 2))
    #expect(next(.tryLater(.status(500)), &history, after: day - 8000, chance: 1) == .call(at: createdAt + day - 3000))
    #expect(next(.tryLater(.status(500)), &history, after: day - 5000, chance: 1) == .call(at: createdAt + day))
    #expect(next(.tryLater(.status(500)), &history, after: day - 4999, chance: 1) == .finish(.expired, nil))
    // Apple's Retry-After takes precedence.
    #expect(
      next(.tryLater(.status(503)), &history, after: day - hour, retryAfter: hour - 1, chance: 1) == .call(at: createdAt + day - 1))
  }

  @Test("without the slow lane a failure is retried as often as a 404, and does not end as a missing record")
  func noSlowLane() {
    let rule = AdServicesRetryRule(notFoundRetries: 2, slowLaneAfterFailure: false)
    var history = AdServicesRetryRule.History()
    for _ in 1...2 { #expect(next(.tryLater(.status(500)), &history, after: 5000, rule: rule) == .call(at: createdAt + 10_000)) }
    #expect(next(.tryLater(.status(500)), &history, after: 20_000, rule: rule) == .finish(.expired, nil))
    #expect(next(.tryLater(.status(500)), &history, after: day, rule: rule) == .finish(.expired, nil))
  }

  @Test("Retry-After is a lower bound in both lanes")
  func retryAfter() {
    var history = AdServicesRetryRule.History()
    #expect(
      next(.tryLater(.status(429)), &history, after: 0, retryAfter: 90_000, chance: 0) == .call(at: createdAt + 90_000))
    #expect(next(.notFound, &history, after: 0, retryAfter: 8000) == .call(at: createdAt + 8000))
    #expect(next(.notFound, &history, after: 0, retryAfter: 1000) == .call(at: createdAt + 5000))
    #expect(next(.tryLater(.status(503)), &history, after: 0, retryAfter: .max) == .finish(.expired, nil))
  }

  @Test("jitter stays between one second and the lane's limit, and nothing is sent after 24 hours")
  func property() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededRandom(seed: seed)
    for _ in 0..<2000 {
      var history = AdServicesRetryRule.History()
      var now = createdAt + Int64(random.next() % UInt64(day))
      var action = rule.start(createdAt: createdAt, now: now)
      var calls = 0
      while case .call(let at) = action {
        #expect(at >= now && at <= createdAt + day, "seed \(seed)")
        calls += 1
        if calls > 100_000 {
          Issue.record("no end, seed \(seed)")
          return
        }
        now = at + Int64(random.next() % 10_000)
        let responses: [AdServicesResponse] = [.notFound, .tryLater(.status(500)), .tryLater(.status(429))]
        let retryAfter: Int64? = random.next() % 3 == 0 ? Int64(random.next() % 4_000_000) : nil
        action = rule.next(
          after: responses[Int(random.next() % 3)], history: &history, createdAt: createdAt, now: now,
          retryAfter: retryAfter,
          chance: Double(random.next() >> 11) / 9_007_199_254_740_992)
      }
      guard case .finish(let outcome, nil) = action else {
        Issue.record("a record out of nothing, seed \(seed)")
        return
      }
      #expect(outcome == .expired || outcome == .notFound, "seed \(seed)")
    }
  }
}
