import TestSupport
import Testing

@testable import UpstreamPacing

@Suite("Rate bucket")
struct RateBucketTests {
  @Test("a rule accepts rates and bursts exactly up to its limits")
  func rules() throws {
    #expect(RateRule(perSecond: RateRule.maxRate, burst: 1)?.interval == 10)
    #expect(RateRule(perSecond: RateRule.maxRate + 1, burst: 1) == nil)
    #expect(RateRule(perSecond: RateRule.minRate, burst: 1) != nil)
    #expect(RateRule(perSecond: 0, burst: 1) == nil)
    #expect(RateRule(perSecond: .nan, burst: 1) == nil)
    #expect(RateRule(perSecond: 1, burst: 0) == nil)
    #expect(RateRule(perSecond: 1, burst: RateRule.maxBurst) != nil)
    #expect(RateRule(perSecond: 1, burst: RateRule.maxBurst + 1) == nil)
    // Never faster than requested.
    #expect(RateRule(perSecond: 3, burst: 1)?.interval == 333_334)
  }

  @Test("an idle bucket admits its burst immediately, then one call per interval")
  func burst() throws {
    let rule = try #require(RateRule(perSecond: 10, burst: 3))
    var bucket = RateBucket()
    #expect(bucket.reserve(1...10, rule: rule, now: 0) == .granted(units: 3, wait: 0))
    #expect(bucket.reserve(1...1, rule: rule, now: 0) == .refused(wait: 100_000))
    #expect(bucket.reserve(1...1, rule: rule, now: 99_999) == .refused(wait: 1))
    #expect(bucket.reserve(1...1, rule: rule, now: 100_000) == .granted(units: 1, wait: 0))
    #expect(bucket.reserve(2...2, rule: rule, maxWait: 200_000, now: 100_000) == .granted(units: 2, wait: 200_000))
    #expect(bucket.reserve(1...9, rule: rule, maxWait: 400_000, now: 100_000) == .granted(units: 2, wait: 400_000))
  }

  @Test("a hold admits no call before its end and at most a burst then")
  func hold() throws {
    let rule = try #require(RateRule(perSecond: 10, burst: 2))
    var bucket = RateBucket()
    bucket.hold(until: 5_000_000)
    bucket.hold(until: 1_000_000)
    #expect(bucket.reserve(1...5, rule: rule, now: 0) == .refused(wait: 5_000_000))
    #expect(bucket.reserve(1...5, rule: rule, maxWait: 5_000_000, now: 0) == .granted(units: 2, wait: 5_000_000))
    #expect(bucket.reserve(1...1, rule: rule, now: 5_000_000) == .refused(wait: 100_000))
  }

  @Test("no time span has more calls than the burst and the rate allow")
  func property() throws {
    var random = SeededRandom("rate bucket")
    for _ in 0..<300 {
      let rule = try #require(
        RateRule(perSecond: .random(in: 0.5...5000, using: &random), burst: .random(in: 1...50, using: &random)))
      var bucket = RateBucket()
      var now: Int64 = .random(in: 0...1_000_000_000_000, using: &random)
      var used: [(at: Int64, units: Int)] = []
      for _ in 0..<80 {
        now += .random(in: 0...rule.interval * 6, using: &random)
        let minUnits = Int.random(in: 1...rule.burst + 3, using: &random)
        if Int.random(in: 0..<20, using: &random) == 0 { bucket.hold(until: now + .random(in: 0...rule.interval * 9, using: &random)) }
        let maxWait = Bool.random(using: &random) ? 0 : Int64.random(in: 0...rule.interval * 20, using: &random)
        let maxUnits = Int.random(in: minUnits...minUnits + 20, using: &random)
        switch bucket.reserve(minUnits...maxUnits, rule: rule, maxWait: maxWait, now: now) {
        case .granted(let units, let wait):
          #expect((minUnits...maxUnits).contains(units) && wait >= 0 && wait <= maxWait)
          used.append((now + wait, units))
        case .refused(let wait): #expect(wait > maxWait)
        }
      }
      for first in used.indices {
        for last in used.indices where used[last].at >= used[first].at {
          let span = used[first].at...used[last].at
          let count = used.filter { span.contains($0.at) }.reduce(0) { $0 + $1.units }
          let bound = Int64(rule.burst) + (span.upperBound - span.lowerBound) / rule.interval
          // A reservation larger than the burst is used as a whole at the end of its wait.
          #expect(Int64(count) <= bound + Int64(max(0, (used.map(\.units).max() ?? 0) - rule.burst)))
        }
      }
    }
  }
}
