import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct CommitColumnTests {
  @Test func `A list has a value at each message's index, and false before it`() async throws {
    try await withQueue { queue, _ in
      var (texts, numbers, flags, maps) = (CommitColumn("texts"), CommitColumn("numbers"), CommitColumn("flags"), CommitColumn("maps"))
      texts.put("first", at: 0)
      texts.put("of ", "two"[...], at: 3)
      numbers.put(1 << 40, at: 2)
      flags.putTrue(at: 1)
      var map = MessagePackWriter()
      map.beginMap()
      map.put("word", "a")
      map.end()
      maps.put(map, at: 2)
      var pack = MessagePackWriter()
      pack.beginMap()
      for column in [texts, numbers, CommitColumn("nothing"), flags, maps] { column.write(to: &pack) }
      pack.end()
      let script = RedisScript(
        name: "lists",
        source: """
          local all = cmsgpack.unpack(ARGV[1])
          local answer = {all.nothing == nil and 'none' or 'some', all.maps[3].word}
          for place = 1, 4 do
            for _, list in ipairs({all.texts, all.numbers, all.flags}) do answer[#answer + 1] = tostring(list[place]) end
          end
          return answer
          """)
      let reply = try await script.run(on: queue.redis, keys: [], arguments: [.bytes(pack.bytes)]).array ?? []
      #expect(
        reply.map(\.string) == [
          "none", "a", "first", "false", "false", "false", "false", "true", "false", "1099511627776", "nil", "of two", "nil", "nil",
        ])
    }
  }

  @Test func `Buckets are named once for each scope`() async throws {
    try await withQueue { queue, _ in
      let (now, shard) = (DeliveryQueue.now, Shard(3))
      let claim = { (key: String, scope: DeduplicationScope) in queue.deduplication.claim(key, scope: scope, shard: shard, now: now) }
      let first = claim("a", .delivery)
      let same = try #require((0..<100_000).lazy.map { claim("n\($0)", .delivery) }.first { $0.bucket == first.bucket })
      let other = try #require((0..<100_000).lazy.map { claim("n\($0)", .delivery) }.first { $0.bucket != first.bucket })
      var buckets = CommitBuckets(now: now)
      #expect([first, same, other, claim("a", .notification), first].map { buckets.number(of: $0) } == [1, 1, 2, 3, 1])
    }
  }
}
