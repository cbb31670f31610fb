import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct MessagePackWriterTests {
  @Test func `Redis decodes the encoded values`() async throws {
    try await withQueue { queue, _ in
      let lengths = [0, 1, 31, 32, 255, 256, 65_535, 65_536, 70_000]
      let numbers = [0, 1, 127, 128, -1, -128, 1 << 40, -(1 << 52), (1 << 53) - 1, 1 << 53, .max, -(1 << 53), .min]
      // Numbers in Lua have 53 bits.
      let decoded = numbers.map { min(max($0, -(1 << 53) + 1), (1 << 53) - 1) }
      var pack = MessagePackWriter()
      pack.beginMap()
      pack.key("texts")
      pack.beginList()
      for length in lengths {
        pack.element()
        pack.string([UInt8](repeating: 0xFF, count: length))
      }
      pack.end()
      pack.key("numbers")
      pack.beginList()
      for number in numbers {
        pack.element()
        pack.int(number)
      }
      pack.end()
      pack.key("yes")
      pack.bool(true)
      pack.key("inner")
      pack.beginMap()
      pack.key("word")
      pack.string("grün")
      pack.end()
      pack.end()
      let script = RedisScript(
        name: "unpack",
        source: """
          local m = cmsgpack.unpack(ARGV[1])
          local answer = {m.yes and 1 or 0, m.inner.word}
          for _, text in ipairs(m.texts) do answer[#answer + 1] = text end
          for _, number in ipairs(m.numbers) do answer[#answer + 1] = string.format('%.0f', number) end
          return answer
          """)
      let reply = try await script.run(on: queue.redis, keys: [], arguments: [.bytes(pack.bytes)]).array ?? []
      try #require(reply.count == 2 + lengths.count + numbers.count)
      #expect(reply[0].integer == 1)
      #expect(reply[1].string == "grün")
      #expect(reply[2..<2 + lengths.count].map { $0.bytes?.count } == lengths)
      #expect(reply[(2 + lengths.count)...].map(\.string) == decoded.map { String($0) })
    }
  }

  @Test func `A list with more elements than a byte can count is complete`() async throws {
    try await withQueue { queue, _ in
      var pack = MessagePackWriter()
      pack.beginList()
      for _ in 0..<300 {
        pack.element()
        pack.bool(false)
      }
      pack.end()
      let script = RedisScript(name: "count", source: "return #cmsgpack.unpack(ARGV[1])")
      let reply = try await script.run(on: queue.redis, keys: [], arguments: [.bytes(pack.bytes)])
      #expect(reply.integer == 300)
    }
  }
}
