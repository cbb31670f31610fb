import Testing

@testable import AppStore

@Suite("Looking up gaps")
struct GapLookUpRuleTests {
  static let hour: Int64 = 3_600_000
  static let now: Int64 = 1_790_000_000_000

  private func reaction(
    _ classification: AppStoreServerAPIError.Classification, code: Int64? = nil, attempt: Int = 1, retryAt: Int64? = nil
  ) -> GapLookUpRule.Reaction {
    let error = AppStoreServerAPIError(classification, errorCode: code, message: "no", retryAt: retryAt, server: .production)
    return GapLookUpRule.reaction(to: error, attempt: attempt, now: Self.now, random: 1)
  }

  @Test("a permanent error number of Apple ends the look-up and is reported", arguments: [4_000_006, 4_000_008, 4_030_007])
  func refused(code: Int64) {
    #expect(reaction(.permanent, code: code) == .unrecoverable(reason: "Apple refuses the look-up with error \(code): no"))
    #expect(reaction(.tryOtherEnvironment, code: code) == .unrecoverable(reason: "Apple refuses the look-up with error \(code): no"))
  }

  @Test("after any other error, the look-up is retried later")
  func waiting() {
    #expect(reaction(.permanent) == .wait(900_000))
    #expect(reaction(.credentials) == .wait(900_000))
    #expect(reaction(.configuration, code: 4_040_007) == .wait(900_000))
    #expect([1, 2, 9, 10, 100].map { reaction(.server, attempt: $0) } == [2000, 4000, 512_000, 600_000, 600_000].map { .wait($0) })
    #expect(reaction(.retry, code: 4_040_002) == .wait(2000))
    #expect(reaction(.rate, retryAt: Self.now + 5000) == .wait(5000))
    #expect(reaction(.rate, retryAt: Self.now - 5000) == .wait(1000))
    #expect(reaction(.rate) == .wait(60_000))
  }

  @Test("three error numbers of Apple mean an unknown purchase", arguments: [4_040_001, 4_040_005, 4_040_010, 4_040_006, 4_000_006])
  func unknown(code: Int64) {
    let error = AppStoreServerAPIError(.permanent, status: 404, errorCode: code, message: "no", server: .production)
    #expect(error.isUnknownPurchase == [4_040_001, 4_040_005, 4_040_010].contains(code))
  }

  private func gap(after: Int64?, before: Int64, shownBy: String = "b") -> SubscriptionGap {
    SubscriptionGap(
      rules: [shownBy.isEmpty ? .silence : .entryRequired], missing: "EXPIRED", after: after, shownBy: shownBy, before: before)
  }

  private func waitForRetries(_ gap: SubscriptionGap, outage: (Int64, Int64)? = nil, ongoingSince: Int64? = nil, scale: Double = 1) throws
    -> Int64?
  {
    let outages = try outage.map { [try TimeWindow(start: Self.now + $0.0, end: Self.now + $0.1)] } ?? []
    return GapLookUpRule.waitForRetries(
      of: gap, outages: outages, ongoingSince: ongoingSince.map { Self.now + $0 }, now: Self.now, scale: scale)
  }

  @Test("a gap that lies in an outage waits until an hour after its end")
  func outage() throws {
    let around = gap(after: Self.now - 10 * Self.hour, before: Self.now - 1)
    #expect(try waitForRetries(around, outage: (-2 * Self.hour, -Self.hour / 2)) == Self.hour / 2)
    #expect(try waitForRetries(around, outage: (-2 * Self.hour, -Self.hour / 2), scale: 2) == nil)
    #expect(try waitForRetries(around, outage: (-2 * Self.hour, -Self.hour + 1)) == 1)
    #expect(try waitForRetries(around, outage: (-2 * Self.hour, -Self.hour)) == nil)
    #expect(try waitForRetries(gap(after: nil, before: Self.now - 1), outage: (-2000, -1000)) == Self.hour - 1000)
    #expect(try waitForRetries(around) == nil)
  }

  @Test("a gap outside the outage does not wait")
  func beside() throws {
    let before = gap(after: Self.now - 10 * Self.hour, before: Self.now - Self.hour)
    let after = gap(after: Self.now - 100, before: Self.now - 1)
    #expect(try waitForRetries(before, outage: (-Self.hour + 1, -1000)) == nil)
    #expect(try waitForRetries(before, outage: (-Self.hour, -1000)) == Self.hour - 1000)
    #expect(try waitForRetries(after, outage: (-Self.hour, -101)) == nil)
    #expect(try waitForRetries(after, outage: (-Self.hour, -100)) == Self.hour - 100)
    // A silence lasts until now.
    let silence = gap(after: Self.now - 40 * Self.hour, before: Self.now - 30 * Self.hour, shownBy: "")
    #expect(try waitForRetries(silence, outage: (-Self.hour, -1000)) == Self.hour - 1000)
  }

  @Test("during an outage the gap is checked every minute")
  func goesOn() throws {
    let around = gap(after: Self.now - 10 * Self.hour, before: Self.now - Self.hour)
    #expect(try waitForRetries(around, ongoingSince: -2 * Self.hour) == 60_000)
    #expect(try waitForRetries(around, ongoingSince: -2 * Self.hour, scale: 60) == 1000)
    #expect(try waitForRetries(around, ongoingSince: -Self.hour + 1) == nil)
    #expect(try waitForRetries(around, outage: (-2 * Self.hour, -Self.hour / 2), ongoingSince: -2 * Self.hour) == Self.hour / 2)
  }
}
