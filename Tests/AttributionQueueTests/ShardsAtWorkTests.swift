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
        fields: try reply([
          "i", .string("003-\(String(repeating: "0", count: 32))"), "k", "a kind", "b", .bytes([1]), "a",
          .string(#"{"r":1,"s":"public","a":{"b":"c"}}"#), "n", "2", "h", "1 before\n2 just before\n",
        ]), deliveryCount: 1, consumer: "c"))
    #expect(
      message.attempt == 3 && message.lastError == "just before" && message.message.attributes == ["b": "c"]
        && message.message.source == "public" && message.shard == shard)
    #expect(work.begins([message], of: shard) && !work.begins([message], of: shard))
    #expect(work.backlogged == [shard])
    #expect(work.next(of: shard)?.count == 1 && work.backlogged.isEmpty)
    // It would be an hour otherwise.
    await work.begun.wait(for: .seconds(3600))
    #expect(work.next(of: shard) == nil && work.begins([message], of: shard))
  }
}
