import NIOCore
import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct HeldLeasesTests {
  private func message(_ shard: Int, _ number: Int) throws -> LeasedMessage {
    let digest = String(repeating: "0", count: 32)
    return try #require(
      LeasedMessage(
        queue: .intake, entryID: "\(number)-1",
        fields: try reply([
          "i", .string("\(Shard(shard).digits)-\(digest)"), "k", "kind", "b", "body", "a", #"{"r":1,"s":"public"}"#,
        ]), deliveryCount: 1, consumer: "c"))
  }

  private func entries(_ held: HeldLeases) -> Set<String> { Set(held.all.map { "\($0.shard.index) \($0.entryID)" }) }

  @Test func `What is settled is no longer held, in whatever order, and all else is`() throws {
    let held = HeldLeases()
    let messages = try (1...4).map { try message(7, $0) }
    let other = try message(8, 1)
    held.add(messages)
    held.add([other])
    held.remove([messages[0], messages[1]])
    #expect(entries(held) == ["7 3-1", "7 4-1", "8 1-1"])
    held.remove([messages[3]])
    #expect(entries(held) == ["7 3-1", "8 1-1"])
    // Some of them are not held any more.
    held.remove(messages)
    #expect(entries(held) == ["8 1-1"])
    held.remove([LeasedMessage]())
    held.remove([other])
    #expect(held.all.isEmpty)
  }

  @Test func `A message that was leased again is another lease`() throws {
    let held = HeldLeases()
    let (first, again) = (try message(0, 1), try message(0, 1))
    held.add([first])
    held.add([again])
    held.remove([again])
    #expect(held.all.count == 1 && held.all[0] === first)
  }
}
