import Synchronization
import Testing

@testable import AttributionQueue

@Suite("The waiting room of an event loop")
struct ReadBackpressureTests {
  @Test("who waits reads on when there is room, in turn")
  func turns() async throws {
    let backpressure = ReadBackpressure(bound: 10)
    // Fewer than the bound wait: the next may go beyond it.
    await room.reserve(9)
    await room.reserve(8)
    let order = Mutex<[Int]>([])
    let reserve: @Sendable (Int) async -> Void = { number in
      await room.reserve(4)
      order.withLock { $0.append(number) }
    }
    var tasks: [Task<Void, Never>] = []
    for number in 1...3 {
      tasks.append(Task { await reserve(number) })
      try await eventually("it waits") { room.waiting == number }
    }
    room.release(7)
    // Ten are left: as many as the bound.
    #expect(order.withLock { $0.isEmpty } && room.waiting == 3)
    room.release(1)
    try await eventually("the first is let in") { order.withLock { $0 } == [1] }
    // 9 and its 4 are 13 now: three must go before another is let in.
    room.release(3)
    #expect(room.waiting == 2)
    room.release(1)
    try await eventually("the second is let in") { order.withLock { $0 } == [1, 2] }
    room.release(13)
    try await eventually("the third is let in") { order.withLock { $0 } == [1, 2, 3] }
    for task in tasks { await task.value }
  }

  @Test("where one would have to wait nothing counts")
  func atOnce() async throws {
    let backpressure = ReadBackpressure(bound: 2)
    #expect(room.reserveAtOnce(1))
    // Fewer than the bound wait: the next may go beyond it.
    #expect(room.reserveAtOnce(5))
    #expect(!room.reserveAtOnce(1))
    room.release(5)
    #expect(room.reserveAtOnce(1))
  }
}
