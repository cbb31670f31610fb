import AppStore
import AttributionQueue
import Testing

@testable import notification_recovery

@Suite("Notifications that a recovery holds back")
struct HeldNotificationsTests {
  private func id(_ shard: Int, _ number: Int) throws -> DeliveryID {
    let digits = String(number, radix: 16)
    let place = String(shard)
    return try #require(
      DeliveryID(String(repeating: "0", count: 3 - place.count) + place + "-" + String(repeating: "0", count: 32 - digits.count) + digits))
  }

  @Test("all come out once: the most urgent first, each shard's in their order, batches within their bound")
  func order() throws {
    var held = HeldNotifications()
    var expected: [RecoveryUrgency: [Int: [DeliveryID]]] = [:]
    for number in 0..<3000 {
      let urgency: RecoveryUrgency = [.other, .ended, .withdrawn][number % 3]
      let one = try id(number % 5, number)
      held.add(one, urgency)
      expected[urgency, default: [:]][number % 5, default: []].append(one)
    }
    #expect(held.count == 3000)
    let batches = held.removeAll()
    #expect(held.count == 0 && held.removeAll().isEmpty)
    #expect(batches.allSatisfy { Set($0.map(\.shard)).count == 1 && (1...HeldNotifications.batch).contains($0.count) })
    let urgencies = try batches.map { batch in
      try #require(expected.first { $0.value.values.contains { $0.contains(batch[0]) } }).key
    }
    #expect(urgencies == urgencies.sorted())
    for (urgency, shards) in expected {
      for ids in shards.values {
        let out = zip(batches, urgencies).filter { $0.1 == urgency && $0.0[0].shard == ids[0].shard }.flatMap(\.0)
        #expect(out == ids)
      }
    }
  }

  @Test("what is beyond the bound is left to its own time")
  func bound() throws {
    var held = HeldNotifications()
    let one = try id(7, 1)
    for _ in 0..<HeldNotifications.most + 1 { held.add(one, .other) }
    #expect(held.count == HeldNotifications.most)
    #expect(held.removeAll().reduce(0) { $0 + $1.count } == HeldNotifications.most)
  }
}
