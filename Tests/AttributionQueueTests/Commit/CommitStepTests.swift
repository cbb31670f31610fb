import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct CommitStepTests {
  @Test func `A step under a former ownership does nothing`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(request("a")).id
      guard case .own(let stale, _) = try await ShardOwnership(text: "").take(.intake, id.shard, for: "one", isAbandoned: false, queue),
        case .own(let held, _) = try await stale.take(.intake, id.shard, for: "two", isAbandoned: false, queue)
      else { return #expect(Bool(false), "not taken") }
      let entries = try await queue.send(["XRANGE", .string(Keys.ready(.intake, id.shard)), "-", "+"]).array ?? []
      let entry = try #require(entries.first?.array)
      let message = try #require(
        LeasedMessage(queue: .intake, entryID: entry[0].string ?? "", fields: entry[1], deliveryCount: 1, consumer: ""))
      var call = CommitBatch(.intake, id.shard, expectedCount: 1, queue)
      call.complete(message, verified("a"), now: DeliveryQueue.now)
      #expect(try await queue.run(Scripts.commit, call.keys, call.arguments(.owner(stale))).array?.map(\.integer) == [0])
      #expect(try await queue.allEvents().isEmpty)
      let done = try await queue.run(Scripts.commit, call.keys, call.arguments(.owner(held))).array ?? []
      #expect(done.first?.integer == 1 && done[1].array?.map(\.integer) == [1] && done[2].integer == 0)
      #expect(try await queue.allEvents() == ["e-a"])
    }
  }

  @Test func `A step whose messages are not the first of the stream does nothing, because a new primary may have settled messages`()
    async throws
  {
    try await withQueue { queue, _ in
      let names = ["a", "b", "c", "d", "e", "f"]
      var shard = Shard(0)
      for name in names { shard = try await queue.accept(request(name, order: "one")).id.shard }
      guard case .own(let held, _) = try await ShardOwnership(text: "").take(.intake, shard, for: "one", isAbandoned: false, queue) else {
        return #expect(Bool(false), "not taken")
      }
      let entries = try await queue.send(["XRANGE", .string(Keys.ready(.intake, shard)), "-", "+"]).array ?? []
      #expect(entries.count == names.count)
      func call(_ places: ClosedRange<Int>, isFirst: Bool) throws -> CommitBatch {
        var call = CommitBatch(.intake, shard, expectedCount: places.count, isFirst: isFirst, queue)
        for place in places {
          let entry = try #require(entries[place].array)
          let message = try #require(
            LeasedMessage(queue: .intake, entryID: entry[0].string ?? "", fields: entry[1], deliveryCount: 1, consumer: ""))
          call.complete(message, verified(names[place]), now: DeliveryQueue.now)
        }
        return call
      }
      for places in [1...5, 1...1] {
        let some = try call(places, isFirst: true)
        #expect(try await queue.run(Scripts.commit, some.keys, some.arguments(.owner(held))).array?.map(\.integer) == [0])
      }
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, shard))]).integer == 6)
      #expect(try await queue.allEvents().isEmpty)
      // A batch that is settled apart from others affects only its own messages.
      for place in 1...2 {
        let apart = try call(place...place, isFirst: false)
        let done = try await queue.run(Scripts.commit, apart.keys, apart.arguments(.owner(held))).array ?? []
        #expect(done.first?.integer == 1 && done[2].integer == Int64(6 - place))
      }
      #expect(try await queue.allEvents() == ["e-b", "e-c"])
      let all = try call(0...0, isFirst: true)
      _ = try await queue.run(Scripts.commit, all.keys, all.arguments(.owner(held)))
      let rest = try call(3...5, isFirst: true)
      #expect(try await queue.run(Scripts.commit, rest.keys, rest.arguments(.owner(held))).array?[2].integer == 0)
    }
  }
}
