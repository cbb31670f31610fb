import AppleAttribution
import Testing

@Suite("Waiting for the ATT status")
struct ATTStatusWaitTests {
  @Test("no interval, zero and negative intervals mean no waiting", arguments: [nil, 0, -5, Int64.min])
  func none(_ interval: Int64?) {
    var waiting = ATTStatusWait()
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: interval, now: 0) == .send)
  }

  @Test("a longer wait is shortened to the maximum", arguments: [121, 360, Int64.max])
  func cut(_ interval: Int64) {
    var waiting = ATTStatusWait()
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: interval, now: 7) == .hold(until: 120_007))
  }

  @Test("the deadline counts from the first held item, and later ones do not move it")
  func deadline() {
    var waiting = ATTStatusWait()
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 30, now: 0) == .hold(until: 30_000))
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 90, now: 20_000) == .hold(until: 30_000))
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 90, now: 30_000) == .send)
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 90, now: 40_000) == .send)
  }

  @Test(
    "if the first item has an answer, no item is ever held",
    arguments: [ATTStatus.authorized, .denied, .restricted])
  func answered(_ status: ATTStatus) {
    var waiting = ATTStatusWait()
    #expect(waiting.receive(status: status, intervalSeconds: 30, now: 0) == .send)
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 30, now: 1) == .send)
  }

  @Test("a status releases the held items once")
  func released() {
    var waiting = ATTStatusWait()
    #expect(waiting.learn(.notDetermined, now: 0) == false)
    _ = waiting.receive(status: .notDetermined, intervalSeconds: 30, now: 0)
    #expect(waiting.learn(.notDetermined, now: 1) == false)
    #expect(waiting.learn(.unavailable, now: 1) == false)
    #expect(waiting.learn(.denied, now: 2) == true)
    #expect(waiting.learn(.authorized, now: 3) == false)
  }
}
