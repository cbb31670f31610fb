import Synchronization
import Testing

@testable import AttributionQueue

@Suite("The waiting room of an event loop")
struct WaitingRoomTests {
  @Test("lanes lease on when there is room, in turn")
  func turns() async throws {
    let room = WaitingRoom(bound: 10)
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
      try await eventually("the lane waits") { room.lanesWaiting == number }
    }
    room.leave(7)
    // Ten are left: as many as the bound.
    #expect(order.withLock { $0.isEmpty } && room.lanesWaiting == 3)
    room.leave(1)
    try await eventually("the first is let in") { order.withLock { $0 } == [1] }
    // 9 and its 4 are 13 now: three must go before another is let in.
    room.leave(3)
    #expect(room.lanesWaiting == 2)
    room.leave(1)
    try await eventually("the second is let in") { order.withLock { $0 } == [1, 2] }
    room.leave(13)
    try await eventually("the third is let in") { order.withLock { $0 } == [1, 2, 3] }
    for task in tasks { await task.value }
  }

  @Test("what comes unasked counts too")
  func unasked() async throws {
    let room = WaitingRoom(bound: 2)
    room.enter(2)
    let isIn = Mutex(false)
    let reserve: @Sendable () async -> Void = {
      await room.reserve(1)
      isIn.withLock { $0 = true }
    }
    let lane = Task { await reserve() }
    try await eventually("the lane waits") { room.lanesWaiting == 1 }
    #expect(!isIn.withLock { $0 })
    room.leave(1)
    await lane.value
    #expect(isIn.withLock { $0 })
  }
}
