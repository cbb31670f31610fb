import Testing
import TestSupport

@testable import ServiceRuntime

@Suite struct RateTests {
  private let rate = RequestRate(perSecond: 10, burst: 3)
  private static let second: Int64 = 1_000_000_000

  @Test func `A burst is let through, one more is not, and the next when its time has come`() {
    var bucket = RequestBucket(full: rate, now: 0)
    for _ in 0..<3 { #expect(bucket.take(rate, now: 0) == nil) }
    #expect(bucket.take(rate, now: 0) == .milliseconds(100))
    #expect(bucket.take(rate, now: 99_999_999) == .nanoseconds(1))
    #expect(bucket.take(rate, now: 100_000_000) == nil)
    #expect(bucket.take(rate, now: 100_000_000) != nil)
  }

  @Test func `A rest gives the burst back and no more`() {
    var bucket = RequestBucket(full: rate, now: 0)
    for _ in 0..<3 { _ = bucket.take(rate, now: 0) }
    for _ in 0..<3 { #expect(bucket.take(rate, now: 3600 * Self.second) == nil) }
    #expect(bucket.take(rate, now: 3600 * Self.second) != nil)
  }

  @Test func `A clock that goes back gives nothing`() {
    var bucket = RequestBucket(full: rate, now: Self.second)
    for _ in 0..<3 { _ = bucket.take(rate, now: Self.second) }
    #expect(bucket.take(rate, now: 0) != nil)
  }

  @Test func `Whatever the times, no more is let through than the burst and the rate allow`() {
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

  @Test func `Keys do not take from each other, and the table stays within its bound`() {
    let table = RateTable<Int>(most: 512)
    for key in 0..<100 { #expect(table.take(key, rate, now: 0) == nil) }
    for key in 0..<100_000 { _ = table.take(key, rate, now: 0) }
    #expect(table.count <= 512)
  }

  @Test func `Who has least left is forgotten last`() {
    let table = RateTable<Int>(most: 512)
    let slow = RequestRate(perSecond: 0.001, burst: 100)
    for _ in 0..<100 { _ = table.take(-1, slow, now: 0) }
    #expect(table.take(-1, slow, now: 0) != nil)
    for key in 0..<100_000 { _ = table.take(key, slow, now: 0) }
    #expect(table.take(-1, slow, now: 0) != nil)
  }
}
