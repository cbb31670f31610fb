import Testing
import TestSupport

@testable import ServiceRuntime

@Suite struct RateTests {
  private let rate = RequestRate(perSecond: 10, burst: 3)
  private static let second: Int64 = 1_000_000_000

  @Test func `A burst is admitted, the next request is not, and another one is after its wait`() {
    var bucket = RequestBucket(full: rate, now: 0)
    for _ in 0..<3 { #expect(bucket.take(rate, now: 0) == nil) }
    #expect(bucket.take(rate, now: 0) == .milliseconds(100))
    #expect(bucket.take(rate, now: 99_999_999) == .nanoseconds(1))
    #expect(bucket.take(rate, now: 100_000_000) == nil)
    #expect(bucket.take(rate, now: 100_000_000) != nil)
  }

  @Test func `A pause restores the burst and no more`() {
    var bucket = RequestBucket(full: rate, now: 0)
    for _ in 0..<3 { _ = bucket.take(rate, now: 0) }
    for _ in 0..<3 { #expect(bucket.take(rate, now: 3600 * Self.second) == nil) }
    #expect(bucket.take(rate, now: 3600 * Self.second) != nil)
  }

  @Test func `A clock that goes back permits nothing`() {
    var bucket = RequestBucket(full: rate, now: Self.second)
    for _ in 0..<3 { _ = bucket.take(rate, now: Self.second) }
    #expect(bucket.take(rate, now: 0) != nil)
  }

  @Test func `At any times, no more is admitted than burst and rate allow`() {
    var random = SeededRandom(seed: 5)
    var bucket = RequestBucket(full: rate, now: 0)
    var now: Int64 = 0
    var taken = 0
    for _ in 0..<10_000 {
      now += Int64.random(in: 0...Self.second / 20, using: &random)
      if bucket.take(rate, now: now) == nil { taken += 1 }
      #expect(Double(taken) <= 3 + Double(now) / 1e9 * 10 + 1e-6)
    }
    #expect(Double(taken) > Double(now) / 1e9 * 10 * 0.95)
  }

  @Test func `Keys are counted separately, and the table has a maximum size`() {
    let table = RateTable<Int>(maxKeys: 512)
    for key in 0..<100 { #expect(table.take(key, rate, now: 0) == nil) }
    for key in 0..<100_000 { _ = table.take(key, rate, now: 0) }
    #expect(table.count <= 512)
  }

  @Test func `The reported rate status matches the admitted requests and the time of the next`() {
    let table = RateTable<Int>(maxKeys: 512)
    func told(_ now: Int64) -> String { RateLimitStatus(table.takeReturningBucket(1, rate, now: now).bucket, rate).field }
    #expect([told(0), told(0), told(0), told(0)] == ["\"peer\";r=2;t=1", "\"peer\";r=1;t=1", "\"peer\";r=0;t=1", "\"peer\";r=0;t=1"])
    #expect(told(10 * Self.second) == "\"peer\";r=2;t=1")
    let slow = RequestRate(perSecond: 0.01, burst: 2)
    let other = RateTable<Int>(maxKeys: 512)
    func slowly(_ now: Int64) -> (Duration?, RateLimitStatus) {
      let (wait, bucket) = other.takeReturningBucket(1, slow, now: now)
      return (wait, RateLimitStatus(bucket, slow))
    }
    #expect(slowly(0).1.secondsToNext == 100 && slowly(0).1.remaining == 0)
    let (wait, status) = slowly(Self.second)
    #expect(wait == .seconds(99) && status.remaining == 0 && status.secondsToNext == 99)
  }

  @Test func `The remaining requests are admitted immediately, and no more before the reported time`() {
    var random = SeededRandom(seed: 6)
    for _ in 0..<2000 {
      let rate = RequestRate(perSecond: Double.random(in: 0.01...100, using: &random), burst: Int.random(in: 1...20, using: &random))
      var bucket = RequestBucket(full: rate, now: 0)
      let now = Int64.random(in: 0...Self.second * 100, using: &random)
      for _ in 0..<Int.random(in: 1...30, using: &random) { _ = bucket.take(rate, now: now) }
      let status = RateLimitStatus(bucket, rate)
      let later = now + Int64(status.secondsToNext) * Self.second
      var whole = bucket
      for _ in 0..<status.remaining { #expect(whole.take(rate, now: now) == nil) }
      #expect(whole.take(rate, now: now) != nil)
      #expect(whole.take(rate, now: later) == nil)
    }
  }

  @Test(arguments: [
    (RequestRate(perSecond: 50, burst: 100), "\"peer\";q=100;w=2"), (RequestRate(perSecond: 3, burst: 10), "\"peer\";q=10;w=4"),
    (RequestRate(perSecond: 1000, burst: 1), "\"peer\";q=1;w=1"),
    (RequestRate(perSecond: .leastNonzeroMagnitude, burst: 1_000_000_000), "\"peer\";q=1000000000;w=999999999999999"),
  ])
  func `The policy is the burst and the time in which it is replenished`(rate: RequestRate, field: String) {
    #expect(RateLimitStatus.policyField(rate) == field)
  }

  @Test func `The key with the least left is removed last`() {
    let table = RateTable<Int>(maxKeys: 512)
    let slow = RequestRate(perSecond: 0.001, burst: 100)
    for _ in 0..<100 { _ = table.take(-1, slow, now: 0) }
    #expect(table.take(-1, slow, now: 0) != nil)
    for key in 0..<100_000 { _ = table.take(key, slow, now: 0) }
    #expect(table.take(-1, slow, now: 0) != nil)
  }
}
