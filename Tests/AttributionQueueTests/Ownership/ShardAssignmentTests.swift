import Testing

@testable import AttributionQueue

@Suite struct ShardAssignmentTests {
  @Test func `Every shard has one owner, and each worker about its share`() {
    for count in [1, 2, 3, 8] {
      let workers = (0..<count).map { "worker-\($0)" }
      let shares = workers.map { ShardAssignment.shards(of: $0, among: workers.shuffled()) }
      #expect(shares.reduce(0) { $0 + $1.count } == Shard.count)
      #expect(shares.reduce(into: Set<Shard>()) { $0.formUnion($1) }.count == Shard.count)
      for share in shares { #expect(share.count > Shard.count / count / 3 && share.count < 3 * Shard.count / count + 1) }
    }
  }

  @Test func `A worker that joins takes shards and moves no others; the shards of one that leaves are redistributed`() {
    let workers = ["a", "b", "c"]
    for shard in Shard.all {
      let before = ShardAssignment.owner(of: shard, among: workers)
      let after = ShardAssignment.owner(of: shard, among: workers + ["d"])
      #expect(after == before || after == "d")
      let without = ShardAssignment.owner(of: shard, among: ["a", "c"])
      if before != "b" { #expect(without == before) }
    }
  }

  @Test func `Without live workers no shard has an owner`() {
    #expect(ShardAssignment.owner(of: Shard(3), among: []) == nil)
    #expect(ShardAssignment.shards(of: "a", among: ["b"]).isEmpty)
  }

  @Test(arguments: [("0-0", "0-1"), ("7-18446744073709551615", "8-0"), ("1700000000000-3", "1700000000000-4")])
  func `The id after an entry is the first that may follow`(_ text: String, _ next: String) throws {
    let id = try #require(EntryID(text))
    #expect(id.text == text)
    #expect(id.next.text == next)
    #expect(id < id.next)
  }

  @Test(arguments: ["", "7", "7-", "-7", "7-1-2", "a-1", "7-x"])
  func `Invalid entry ids are refused`(_ text: String) { #expect(EntryID(text) == nil) }
}
