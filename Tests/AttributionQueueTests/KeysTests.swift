import Testing

@testable import AttributionQueue

@Suite("Keys")
struct KeysTests {
  @Test("every key of a shard has its hash tag and nothing else in braces", arguments: [0, 7, 42, 255])
  func hashTags(index: Int) throws {
    let shard = Shard(index)
    let id = try #require(DeliveryID(String(String(1000 + index).dropFirst()) + "-" + String(repeating: "a", count: 32)))
    let keys =
      QueueName.allCases.flatMap {
        [Keys.ready($0, shard), Keys.delayed($0, shard), Keys.payloads($0, shard), Keys.dead($0, shard), Keys.line($0, shard, "x")]
      } + [
        Keys.delivery(id), Keys.seen(.delivery, generation: 3, bucket: 9, shard), Keys.seen(.notification, generation: 3, bucket: 9, shard),
        Keys.events(shard), Keys.eventsIndex(shard), Keys.rpc(shard, digest: "x"),
      ]
    for key in keys {
      #expect(key.contains(Keys.tag(shard)), "\(key)")
      #expect(key.filter { $0 == "{" || $0 == "}" }.count == 2, "\(key)")
    }
    #expect(Set(keys).count == keys.count)
    #expect(Set(keys.map { Keys.hashTag(of: $0) }).count == 1)
  }

  @Test("what is no delivery's id is none", arguments: ["", "1-a", "256-\(String(repeating: "a", count: 32))", "017-ABC", "017"])
  func ids(text: String) { #expect(DeliveryID(text) == nil) }

  @Test func `A key tells its shard, and what is no key none`() {
    for shard in Shard.all { #expect(Keys.shard(of: Keys.ready(.intake, shard)) == shard) }
    for text in ["", "{attr:", "{attr:12", "{attr:256}:q", "{attr:999}:q", "{attr:01x}:q", "{attr:012", "{attx:012}:q", "attr:0012}:q"] {
      #expect(Keys.shard(of: text) == nil, "\(text)")
    }
  }
}
