import Testing

@testable import AttributionQueue

@Suite("Shards at work")
struct ShardsAtWorkTests {
  @Test("who waits for a busy shard hears that its messages are begun")
  func begun() async throws {
    let work = ShardsAtWork()
    let shard = Shard(3)
    let message = try #require(
      LeasedMessage(
        queue: .intake, entryID: "1-1",
        fields: .array([
          .bytes(Array("i".utf8)), .bytes(Array("003-\(String(repeating: "0", count: 32))".utf8)), .bytes(Array("k".utf8)),
          .bytes(Array("a kind".utf8)), .bytes(Array("b".utf8)), .bytes([1]), .bytes(Array("a".utf8)),
          .bytes(Array(#"{"r":1,"s":"public"}"#.utf8)), .bytes(Array("n".utf8)), .bytes(Array("2".utf8)), .bytes(Array("h".utf8)),
          .bytes(Array("before".utf8)),
        ]), deliveryCount: 1, consumer: "c"))
    #expect(message.attempt == 3 && message.history == "before" && message.message.source == "public" && message.shard == shard)
    #expect(work.begins([message], of: shard) && !work.begins([message], of: shard))
    #expect(work.backlogged == [shard])
    #expect(work.next(of: shard)?.count == 1 && work.backlogged.isEmpty)
    // It would be an hour otherwise.
    await work.begun.wait(for: .seconds(3600))
    #expect(work.next(of: shard) == nil && work.begins([message], of: shard))
  }
}
