import NIOEmbedded
import Synchronization
import Testing

@testable import ServiceRuntime

/// Records with which others it was done.
private final class Sum: CoalescedWork {
  let number: Int
  let companions = Mutex<[Int]>([])

  init(_ number: Int) { self.number = number }

  static func perform(_ works: [Sum]) {
    for work in works { work.companions.withLock { $0 = works.map(\.number) } }
  }
}

private final class Product: CoalescedWork {
  let companions = Mutex(0)

  static func perform(_ works: [Product]) {
    for work in works { work.companions.withLock { $0 = works.count } }
  }
}

@Suite struct LoopTurnFlushTests {
  @Test func `Work of one turn is done together by kind, and completed in order`() {
    let loop = EmbeddedEventLoop()
    let turn = LoopTurnFlush(loop: loop)
    let sums = (1...3).map(Sum.init)
    let product = Product()
    var followed: [String] = []
    turn.perform(sums[0]) { followed.append("1") }
    turn.perform(product) { followed.append("product") }
    turn.perform(sums[1]) {
      followed.append("2")
      // Work that a completion adds still belongs to this turn.
      turn.perform(sums[2]) { followed.append("3") }
    }
    #expect(followed.isEmpty)
    loop.run()
    #expect(followed == ["1", "product", "2", "3"])
    #expect(sums[0].companions.withLock { $0 } == [1, 2])
    #expect(sums[1].companions.withLock { $0 } == [1, 2])
    #expect(sums[2].companions.withLock { $0 } == [3])
    #expect(product.companions.withLock { $0 } == 1)
    // The next turn starts without earlier work.
    let last = Sum(4)
    turn.perform(last) { followed.append("4") }
    loop.run()
    #expect(followed.last == "4")
    #expect(last.companions.withLock { $0 } == [4])
  }
}
