import Testing

@testable import AttributionQueue
@testable import EventPush

@Suite("Progress in a shard")
struct ProgressTests {
  private func position(_ milliseconds: UInt64) -> FeedPosition { Sample.position(milliseconds).feedPosition }

  @Test("the stored position never passes an unsettled event, and counts all events that it passes")
  func noting() {
    var progress = ShardProgress(at: position(0))
    for time in 1...5 { progress.read(position(UInt64(time)), isWanted: time != 2) }
    #expect(progress.toBeStored == nil || progress.toBeStored!.position < position(1))
    progress.settle(position(3))
    progress.settle(position(1))
    #expect(progress.toBeStored! == (position(3), 3))
    progress.recordStored(position(3), count: 3)
    #expect(progress.unsettled.map(\.offset) == [1, 2])
    progress.settle(position(5))
    #expect(progress.toBeStored == nil)
    progress.settle(position(4))
    #expect(progress.toBeStored! == (position(5), 2))
    #expect(progress.unsettled.isEmpty)
  }

  @Test("a successor continues with the unsettled events and reads after the last read event")
  func resuming() throws {
    let left = UnsettledEvents(
      cursor: position(9), offset: 7, base: position(2), events: [.init(position: position(4), offset: 2, attempts: 3, firstFailure: 17)])
    let read = try #require(UnsettledEvents(text: left.text(generation: 5), generation: 5))
    #expect(read == left)
    #expect(UnsettledEvents(text: left.text(generation: 5), generation: 6) == nil, "of another generation")
    #expect(UnsettledEvents(text: "5 1-1", generation: 5) == nil && UnsettledEvents(text: "", generation: 0) == nil)
    var progress = ShardProgress(at: position(2))
    let old = try #require(UnsettledEvents(text: "5 9-0 7 4-0 2 3 17", generation: 5), "of a build before")
    #expect(old.base == nil && old.events == left.events && old.offset == 7)
    progress.resume(unsettled: [(position(4), 2)], cursor: position(9), offset: 7, base: nil)
    #expect(progress.base == nil)
    #expect(progress.cursor == position(9) && !progress.unsettled.isEmpty)
    progress.read(position(10), isWanted: true)
    progress.settle(position(10))
    #expect(progress.toBeStored == nil)
    progress.settle(position(4))
    #expect(progress.toBeStored! == (position(10), 8))
    progress.recordStored(position(10), count: 8)
    #expect(progress.base == position(10))
  }

  @Test("a claimed endpoint that was never opened is released when it belongs to another instance")
  func claims() {
    var claims = EndpointClaims()
    claims.request(["a", "b", "c"])
    #expect(claims.toRelease(wanted: ["a"], running: []) == ["b", "c"], "the answer was lost")
    claims.confirm(["a", "b", "c"], running: [])
    #expect(claims.toRelease(wanted: ["a"], running: ["b"]) == ["c"], "b ends first")
    claims.confirm(["a"], running: ["b"])
    #expect(claims.toRelease(wanted: ["a"], running: []) == ["b"])
    claims.confirm(["a"], running: [])
    #expect(claims.toRelease(wanted: ["a"], running: []).isEmpty && claims.all == ["a"])
  }

  @Test("all instances compute the same owner, and only the endpoints of an instance that stops move")
  func rendezvous() {
    let names = (0..<500).map { "endpoint-\($0)" }
    let before = names.map { RendezvousHash.winner(of: $0, among: ["a", "b", "c"]) }
    let after = names.map { RendezvousHash.winner(of: $0, among: ["c", "a"]) }
    for (one, other) in zip(before, after) where one != "b" { #expect(one == other) }
    for pusher in ["a", "b", "c"] { #expect((100...240).contains(before.count { $0 == pusher })) }
    #expect(RendezvousHash.winner(of: "x", among: []) == nil)
  }
}
