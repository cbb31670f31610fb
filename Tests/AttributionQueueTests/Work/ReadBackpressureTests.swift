import Synchronization
import Testing

@testable import AttributionQueue

@Suite("Backpressure on reading of an event loop")
struct ReadBackpressureTests {
  @Test("waiting callers are admitted in order when messages start")
  func turns() async throws {
    let backpressure = ReadBackpressure(limit: 10)
    // Fewer messages than the limit wait, so the next reservation may exceed it.
    await backpressure.reserve(9)
    await backpressure.reserve(8)
    let order = Mutex<[Int]>([])
    let reserve: @Sendable (Int) async -> Void = { number in
      await backpressure.reserve(4)
      order.withLock { $0.append(number) }
    }
    var tasks: [Task<Void, Never>] = []
    for number in 1...3 {
      tasks.append(Task { await reserve(number) })
      try await eventually("it waits") { backpressure.waiting == number }
    }
    backpressure.release(7)
    // Ten messages remain, as many as the limit.
    #expect(order.withLock { $0.isEmpty } && backpressure.waiting == 3)
    backpressure.release(1)
    try await eventually("the first is let in") { order.withLock { $0 } == [1] }
    // 13 messages wait: 9 and the 4 of the first caller. The next caller is admitted when fewer than 10 wait.
    backpressure.release(3)
    #expect(backpressure.waiting == 2)
    backpressure.release(1)
    try await eventually("the second is let in") { order.withLock { $0 } == [1, 2] }
    backpressure.release(13)
    try await eventually("the third is let in") { order.withLock { $0 } == [1, 2, 3] }
    for task in tasks { await task.value }
  }

  @Test("a reservation that would have to wait reserves nothing")
  func atOnce() async throws {
    let backpressure = ReadBackpressure(limit: 2)
    #expect(backpressure.tryReserve(1))
    // Fewer messages than the limit wait, so the next reservation may exceed it.
    #expect(backpressure.tryReserve(5))
    #expect(!backpressure.tryReserve(1))
    backpressure.release(5)
    #expect(backpressure.tryReserve(1))
  }
}
