import NIOCore
import Testing

@testable import ServiceRuntime

@Suite struct HeldBodyTests {
  @Test func `Bodies of all connections share one bound, and what is let go of is room again`() {
    let budget = BodyBudget(most: 10)
    var first: HeldBody? = HeldBody(budget)
    var second = HeldBody(budget)
    #expect(first?.add(ByteBuffer(string: "123456"), limit: 6) == nil)
    #expect(first?.add(ByteBuffer(string: "7"), limit: 6) == .tooLarge)
    #expect(second.add(ByteBuffer(string: "1234"), limit: 100) == nil)
    #expect(second.add(ByteBuffer(string: "5"), limit: 100) == .noRoom)
    #expect(budget.bytes == 10)
    first = nil
    #expect(budget.bytes == 4)
    #expect(second.add(ByteBuffer(string: "56"), limit: 100) == nil)
    #expect(second.take() == Array("123456".utf8))
  }

  @Test func `What was taken to be worked counts until its share is let go of`() {
    let budget = BodyBudget(most: 10)
    var body: HeldBody? = HeldBody(budget)
    var share = body?.share
    #expect(body?.add(ByteBuffer(string: "123456"), limit: 10) == nil)
    #expect(body?.take() == Array("123456".utf8) && body?.take() == [])
    body = nil
    #expect(budget.bytes == 6 && share?.take(4) == true && share?.take(1) == false)
    share?.giveBack(2)
    #expect(budget.bytes == 8)
    share = nil
    #expect(budget.bytes == 0)
  }

  @Test func `What there is no room for is counted`() {
    let registry = MetricsRegistry()
    registry.counter("refused", help: "")
    let budget = BodyBudget(most: 10, refusals: registry.series("refused"))
    var body = HeldBody(budget)
    #expect(body.add(ByteBuffer(string: "12345678901"), limit: 10) == .tooLarge && body.share.take(10))
    #expect(registry.series("refused")?.present.value == 0)
    #expect(!body.share.take(1) && registry.series("refused")?.present.value == 1)
  }
}
