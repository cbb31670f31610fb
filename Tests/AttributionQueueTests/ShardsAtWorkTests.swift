import RedisClient
import Testing

@testable import AttributionQueue

@Suite("Shards at work")
struct ShardsAtWorkTests {
  /// What was leased of the shard at a time.
  private func entries(_ shard: Shard, _ ids: [String]) throws -> LeasedEntries {
    let entries = ids.map { "*2\r\n$\($0.utf8.count)\r\n\($0)\r\n*0\r\n" }.joined()
    let key = Keys.ready(.intake, shard)
    return try #require(
      LeasedEntries(stream: try reply(written: "*2\r\n$\(key.utf8.count)\r\n\(key)\r\n*\(ids.count)\r\n\(entries)")))
  }

  @Test("who waits for a busy shard hears that all its messages are begun")
  func begun() async throws {
    let work = ShardsAtWork()
    let shard = Shard(3)
    let (first, second, third) = (try entries(shard, ["1-1"]), try entries(shard, ["1-2", "1-3"]), try entries(shard, ["1-4"]))
    #expect(second.shard == shard && second.count == 2 && second.ids == ["1-2", "1-3"])
    #expect(work.begins(first) && !work.begins(second) && !work.begins(third))
    #expect(work.backlogged == [shard])
    #expect(work.next(of: shard)?.ids == second.ids && work.backlogged == [shard])
    #expect(work.next(of: shard)?.ids == third.ids && work.backlogged.isEmpty)
    // It would be an hour otherwise.
    await work.begun.wait(for: .seconds(3600))
    #expect(work.next(of: shard) == nil && work.begins(first))
  }
}
