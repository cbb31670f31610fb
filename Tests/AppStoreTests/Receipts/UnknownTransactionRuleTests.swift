import Testing

@testable import AppStore

@Suite("How long an unknown id is looked up again") struct UnknownTransactionRuleTests {
  private static let minute: Int64 = 60_000

  @Test(
    "an unknown id is looked up again 1, 4 and 15 minutes after its receipt arrived, and then it is unknown for good",
    arguments: [
      (-5000, 60_000), (0, 60_000), (59_999, 1), (60_000, 180_000), (239_999, 1), (240_000, 660_000), (899_999, 1), (900_000, nil),
      (90_000_000, nil),
    ] as [(Int64, Int64?)])
  func waits(age: Int64, wait: Int64?) {
    #expect(UnknownTransactionRule.wait(receivedAt: 7_000_000, now: 7_000_000 + age, patience: 15 * Self.minute) == wait)
  }

  @Test("an id that Apple knows after two minutes is found within the patience")
  func twoMinutes() {
    var (now, lookUps) = (Int64(0), 1)
    while now < 2 * Self.minute, let wait = UnknownTransactionRule.wait(receivedAt: 0, now: now, patience: 15 * Self.minute) {
      now += wait
      lookUps += 1
    }
    #expect(now == 4 * Self.minute && lookUps == 3)
  }

  @Test("without patience, an unknown id is unknown at once")
  func impatient() {
    #expect(UnknownTransactionRule.wait(receivedAt: 0, now: 0, patience: 0) == nil)
  }
}
