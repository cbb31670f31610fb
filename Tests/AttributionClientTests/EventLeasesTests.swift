import AttributionProtocol
import Testing
import WireJSON

@testable import AttributionClient

@Suite struct EventLeasesTests {
  private let start = ContinuousClock.now

  private func leases(_ ids: [String], until: Duration = .seconds(30)) -> EventLeases {
    var leases = EventLeases()
    leases.add(ids.map { ($0, CloudEvent(["id": .string($0)])) }, until: start + until)
    return leases
  }

  @Test func `Each finished event is reported once, in the order in which it was finished`() {
    var leases = leases(["a", "b", "c"])
    #expect(leases.count == 3)
    #expect(leases.begin(now: start)?.event.id == "a")
    leases.finish()
    #expect(leases.begin(now: start)?.ackId == "b")
    leases.finish("b")
    leases.finish("b")
    leases.finish("c")
    #expect(leases.takeDone() == ["a", "b"])
    #expect(leases.takeDone().isEmpty)
    leases.restore(done: ["a", "b"])
    #expect(leases.begin(now: start)?.ackId == "c")
    leases.finish()
    #expect(leases.takeDone() == ["a", "b", "c"])
    #expect(leases.begin(now: start) == nil && leases.count == 0)
  }

  @Test func `An event whose lease ended before its work is not begun, and an event in work is finished`() {
    var leases = leases(["a", "b"])
    _ = leases.begin(now: start)
    leases.finish()
    #expect(leases.begin(now: start + .seconds(30)) == nil)
    #expect(leases.takeDone() == ["a"])
    var late = self.leases(["x"])
    _ = late.begin(now: start)
    #expect(late.toExtend(now: start + .seconds(31), margin: .seconds(20)).isEmpty)
    late.finish()
    #expect(late.takeDone() == ["x"])
  }

  @Test func `Leases are extended when less than the margin is left`() {
    var leases = leases(["a", "b"])
    _ = leases.begin(now: start)
    #expect(leases.toExtend(now: start + .seconds(10), margin: .seconds(20)).isEmpty)
    #expect(Set(leases.toExtend(now: start + .seconds(11), margin: .seconds(20))) == ["a", "b"])
    leases.extend(["a", "b"], until: start + .seconds(41))
    #expect(leases.toExtend(now: start + .seconds(11), margin: .seconds(20)).isEmpty)
    leases.finish()
    #expect(leases.begin(now: start + .seconds(40))?.ackId == "b")
  }

  @Test func `Unfinished events are released`() {
    var leases = leases(["a", "b", "c"])
    _ = leases.begin(now: start)
    leases.release("b")
    leases.release("a")
    #expect(leases.takeReleased() == ["a"])
    #expect(leases.begin(now: start)?.ackId == "b")
    leases.releaseWaiting()
    #expect(leases.takeReleased() == ["c"])
    leases.releaseAll()
    #expect(leases.takeReleased() == ["b"] && leases.takeDone().isEmpty)
    leases.restore(released: ["b"])
    #expect(leases.released == ["b"])
  }

  @Test func `Later events of a subject are released together with an earlier one`() {
    var leases = EventLeases()
    let events = [("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b"), ("a3", "a")]
    leases.add(events.map { ($0, CloudEvent(["id": .string($0), "subject": .string($1)])) }, until: start + .seconds(30))
    _ = leases.begin(now: start)
    leases.release("a1")
    #expect(leases.takeReleased() == ["a1", "a2", "a3"])
    #expect(leases.begin(now: start)?.ackId == "b1")
    leases.finish()
    #expect(leases.begin(now: start)?.ackId == "b2")
  }
}
