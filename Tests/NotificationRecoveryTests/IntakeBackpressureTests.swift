import AttributionQueue
import Logging
import RedisTestSupport
import Testing

@testable import notification_recovery

@Suite("The room in the intake that recoveries share")
struct IntakeBackpressureTests {
  private func withQueue(_ body: (DeliveryQueue) async throws -> Void) async throws {
    try await withRedisProcess(["--appendonly", "yes", "--appendfsync", "always"]) { redis in
      let client = try await redis.readyClient()
      try await body(
        try await DeliveryQueue.open(
          redis: client, configuration: QueueConfiguration(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
      client.close()
    }
  }

  @Test("a page that cannot be held back takes no room")
  func held() async throws {
    try await withQueue { queue in
      let backpressure = IntakeBackpressure(deliveries: queue, maxWaiting: 40, maxHeld: 0)
      for _ in 0..<3 {
        let isReserved = try await backpressure.reserveHeld(20)
        #expect(!isReserved)
      }
      #expect(await backpressure.room == 40)
    }
  }

  @Test("room that was not used is given back")
  func unused() async throws {
    try await withQueue { queue in
      let backpressure = IntakeBackpressure(deliveries: queue, maxWaiting: 40, maxHeld: 40)
      try await backpressure.reserve(30)
      await backpressure.giveBack(30)
      #expect(await backpressure.room == 40)
    }
  }
}
