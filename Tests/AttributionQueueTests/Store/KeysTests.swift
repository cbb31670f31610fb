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
        Keys.events(shard), Keys.eventsIndex(shard), Keys.eventPositions(shard), Keys.droppedEvents(shard), Keys.rpc(shard, digest: "x"),
      ]
    for key in keys {
      #expect(key.contains(Keys.tag(shard)), "\(key)")
      #expect(key.filter { $0 == "{" || $0 == "}" }.count == 2, "\(key)")
    }
    #expect(Set(keys).count == keys.count)
    #expect(Set(keys.map { Keys.hashTag(of: $0) }).count == 1)
  }

  @Test("precomputed names are those of their queue and shard")
  func madeOnce() {
    for (index, queue) in QueueName.allCases.enumerated() {
      #expect(queue.index == index)
      for (shard, digits) in [(Shard(0), "000"), (Shard(41), "041"), (Shard(255), "255")] {
        let start = "{attr:\(digits)}:q:\(queue.rawValue)"
        #expect(Keys.ready(queue, shard) == start && Keys.delayed(queue, shard) == start + ":delayed")
        #expect(Keys.payloads(queue, shard) == start + ":payloads" && Keys.dead(queue, shard) == start + ":dead")
      }
    }
    #expect(Keys.events(Shard(7)) == "{attr:007}:events" && Keys.eventsIndex(Shard(7)) == "{attr:007}:events:index")
    #expect(Keys.rejectedBodies(Shard(7)) == "{attr:007}:rejected:bodies" && Keys.deliveries(Shard(7)) == "{attr:007}:r:")
  }

  @Test("the checked generations depend only on the time, the scope and the shard")
  func generations() {
    let configuration = QueueConfiguration()
    let deduplication = DeduplicationStore(digestKey: [1], configuration: configuration)
    let length = configuration.deliveryGeneration.milliseconds
    let other = configuration.notificationGeneration.milliseconds
    for (now, generation) in [(0, 0), (length - 1, 0), (length, 1), (length - 1, 0), (7 * length, 7)] as [(Int64, Int64)] {
      for shard in [Shard(3), Shard(4), Shard(3)] {
        let buckets = deduplication.claim("key", scope: .delivery, shard: shard, now: now).buckets
        let starts = [generation, generation - 1, generation + 1].map { "\(Keys.tag(shard)):seen:d:\($0):" }
        #expect(zip(buckets, starts).allSatisfy { $0.hasPrefix($1) } && buckets.count == 3)
        let long = deduplication.claim("key", scope: .notification, shard: shard, now: now)
        #expect(long.buckets[0].hasPrefix("\(Keys.tag(shard)):seen:n:\(now / other):"))
        #expect(long.expirySeconds == 2 * other / 1000 + 3600)
      }
    }
  }

  @Test("invalid delivery ids are refused", arguments: ["", "1-a", "256-\(String(repeating: "a", count: 32))", "017-ABC", "017"])
  func ids(text: String) { #expect(DeliveryID(text) == nil) }

  @Test func `A key contains its shard, and other text has none`() {
    for shard in Shard.all { #expect(Keys.shard(of: Keys.ready(.intake, shard)) == shard) }
    for text in ["", "{attr:", "{attr:12", "{attr:256}:q", "{attr:999}:q", "{attr:01x}:q", "{attr:012", "{attx:012}:q", "attr:0012}:q"] {
      #expect(Keys.shard(of: text) == nil, "\(text)")
    }
  }
}
