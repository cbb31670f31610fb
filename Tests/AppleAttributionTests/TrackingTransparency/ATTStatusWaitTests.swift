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
    "an item with an answer is sent; when the status is not determined again, a new wait begins",
    arguments: [ATTStatus.authorized, .denied, .restricted])
  func answered(_ status: ATTStatus) {
    var waiting = ATTStatusWait()
    #expect(waiting.receive(status: status, intervalSeconds: 30, now: 0) == .send)
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: nil, now: 1) == .send)
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 30, now: 2) == .hold(until: 30_002))
    #expect(waiting.learn(status, now: 3) == true)
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 30, now: 4) == .hold(until: 30_004))
    // A wait that ran out is not begun again while the status stays the same.
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 30, now: 30_004) == .send)
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 30, now: 30_005) == .send)
    #expect(waiting.learn(status, now: 30_006) == false)
    #expect(waiting.receive(status: .notDetermined, intervalSeconds: 30, now: 30_007) == .hold(until: 60_007))
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
