import Testing

@testable import AppStore

@Suite("Errors during a recovery")
struct RecoveryErrorRuleTests {
  private func pause(
    _ classification: AppStoreServerAPIError.Classification, _ origin: RecoveryOrigin, failures: Int = 1, code: Int64? = nil,
    retryAt: Int64? = nil, random: Double = 1
  ) -> Int64? {
    let error = AppStoreServerAPIError(classification, errorCode: code, message: "no", retryAt: retryAt, server: .production)
    return RecoveryErrorRule.pause(after: error, origin: origin, failures: failures, now: 1000, random: random)
  }

  @Test("the recovery of an outage does not fail while Apple fails or an operator must act")
  func outage() {
    for kind in [AppStoreServerAPIError.Classification.retry, .server, .rate, .credentials, .configuration] {
      for failures in [1, 59, 60, 61, 100_000] { #expect(pause(kind, .outage, failures: failures) != nil) }
    }
    #expect(pause(.credentials, .outage) == 300_000 && pause(.configuration, .outage) == 3_600_000)
  }

  @Test("a scheduled recovery ends after half an hour, and the next one covers its window")
  func schedule() {
    for kind in [AppStoreServerAPIError.Classification.retry, .server] {
      #expect(pause(kind, .schedule, failures: RecoveryErrorRule.maxFailures - 1) != nil)
      #expect(pause(kind, .schedule, failures: RecoveryErrorRule.maxFailures) == nil)
    }
    for kind in [AppStoreServerAPIError.Classification.credentials, .configuration] {
      #expect(pause(kind, .schedule, failures: RecoveryErrorRule.maxRefusals - 1) == 300_000)
      #expect(pause(kind, .schedule, failures: RecoveryErrorRule.maxRefusals) == nil)
    }
  }

  @Test("an error that only an operator can correct is returned to the caller immediately")
  func request() {
    #expect(pause(.credentials, .request) == nil && pause(.configuration, .request) == nil)
    #expect(pause(.server, .request, failures: RecoveryErrorRule.maxFailures - 1) != nil)
    #expect(pause(.server, .request, failures: RecoveryErrorRule.maxFailures) == nil)
  }

  @Test("a permanent error ends every recovery", arguments: RecoveryOrigin.allCases)
  func permanent(origin: RecoveryOrigin) {
    #expect(pause(.permanent, origin, code: 4_000_018) == nil && pause(.tryOtherEnvironment, origin, code: 4_040_010) == nil)
    // An error without Apple's error number may be a proxy's.
    #expect(pause(.permanent, origin) == (origin == .outage ? 300_000 : nil))
  }

  @Test("pauses double up to a minute, and a time given by Apple is honoured", arguments: RecoveryOrigin.allCases)
  func steps(origin: RecoveryOrigin) {
    #expect((1...8).map { pause(.server, origin, failures: $0) } == [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
    #expect(pause(.server, origin, failures: 5, random: 0) == 0)
    #expect(pause(.rate, origin, failures: 100_000, retryAt: 5000) == 5000)
    #expect(pause(.rate, origin, retryAt: 500, random: 0) == 0)
    #expect(pause(.rate, origin, random: 0) == 60_000)
  }
}
