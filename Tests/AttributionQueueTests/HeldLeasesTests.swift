import Testing

@testable import AttributionQueue

@Suite struct HeldLeasesTests {
  private func tokens(_ numbers: ClosedRange<Int>) -> [LeaseToken] { numbers.map { LeaseToken(entryID: "\($0)-1", deliveryCount: 1) } }

  private func entries(_ held: HeldLeases) -> Set<String> { Set(held.all.map { "\($0.shard.index) \($0.token.entryID)" }) }

  @Test func `What is settled is no longer held, in whatever order, and all else is`() {
    let held = HeldLeases()
    let (leases, other) = (tokens(1...4), tokens(1...1))
    held.add(leases, of: Shard(7))
    held.add(other, of: Shard(8))
    held.remove(leases[0...1], of: Shard(7))
    #expect(entries(held) == ["7 3-1", "7 4-1", "8 1-1"])
    held.remove([leases[3]], of: Shard(7))
    #expect(entries(held) == ["7 3-1", "8 1-1"])
    // Some of them are not held any more.
    held.remove(leases, of: Shard(7))
    #expect(entries(held) == ["8 1-1"])
    held.remove([], of: Shard(8))
    held.remove(other, of: Shard(8))
    #expect(held.all.isEmpty)
  }

  @Test func `A message that was leased again is another lease`() {
    let held = HeldLeases()
    let (first, again) = (LeaseToken(entryID: "1-1", deliveryCount: 1), LeaseToken(entryID: "1-1", deliveryCount: 2))
    held.add([first], of: Shard(0))
    held.add([again], of: Shard(0))
    held.remove([again], of: Shard(0))
    #expect(held.all.map(\.token) == [first])
  }
}
