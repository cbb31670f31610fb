import Testing

@testable import AppStore

@Suite("Slots of an app's recoveries")
struct RecoverySlotsTests {
  private func candidate(_ id: String, _ server: AppStoreServer, _ origin: RecoveryOrigin, _ startedAt: Int64 = 0)
    -> RecoverySlots.Candidate
  {
    RecoverySlots.Candidate(id: id, slotGroup: RecoverySlots.SlotGroup(server: server, origin: origin), startedAt: startedAt)
  }

  @Test("recoveries that wait for one server do not delay those of the other", arguments: RecoveryOrigin.allCases)
  func servers(origin: RecoveryOrigin) {
    let stuck = RecoveryOrigin.allCases.flatMap { origin in
      Array(repeating: RecoverySlots.SlotGroup(server: .sandbox, origin: origin), count: RecoverySlots.limit(origin))
    }
    let waiting = [candidate("sandbox", .sandbox, origin), candidate("production", .production, origin)]
    #expect(RecoverySlots.beginning(waiting, active: stuck) == ["production"])
  }

  @Test("waiting scheduled recoveries do not delay outages and requests")
  func origins() {
    let stuck = Array(
      repeating: RecoverySlots.SlotGroup(server: .production, origin: .schedule), count: RecoverySlots.limit(.schedule))
    let waiting = [
      candidate("schedule", .production, .schedule), candidate("request", .production, .request),
      candidate("outage", .production, .outage),
    ]
    #expect(RecoverySlots.beginning(waiting, active: stuck) == ["outage", "request"])
  }

  @Test("recoveries start up to the number of slots, the oldest first", arguments: RecoveryOrigin.allCases)
  func limit(origin: RecoveryOrigin) {
    let waiting = (0..<10).map { candidate("\($0)", .production, origin, Int64(10 - $0)) }
    let begun = RecoverySlots.beginning(waiting, active: [])
    #expect(begun == waiting.reversed().prefix(RecoverySlots.limit(origin)).map(\.id))
    let active = Array(repeating: RecoverySlots.SlotGroup(server: .production, origin: origin), count: RecoverySlots.limit(origin) - 1)
    #expect(RecoverySlots.beginning(waiting, active: active) == ["9"])
    #expect(RecoverySlots.beginning(waiting, active: active + active.prefix(1) + active.prefix(1)) == [])
  }
}
