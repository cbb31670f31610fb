import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// What is no message ends as a dead letter and holds nothing up.
@Suite struct UnreadableEntryTests {
  /// Puts an entry into a ready stream by hand.
  static func put(_ words: [RedisArgument], _ shard: Shard, _ queue: DeliveryQueue, _ name: QueueName = .intake) async throws {
    _ = try await queue.send(["XADD", .string(Keys.ready(name, shard)), "*"] + words)
  }

  /// One that was leased by a worker that died is taken over and buried, in a shard that has nothing else; which.
  @discardableResult
  static func bury(_ queue: DeliveryQueue) async throws -> Shard {
    var shard = Shard(0)
    while try await queue.send(["EXISTS", .string(Keys.ready(.intake, shard))]).integer == 1 { shard = Shard(shard.index + 1) }
    try await put(["z", "1"], shard, queue)
    let consumer = QueueConsumer(queue: .intake, deliveries: queue)
    try await consumer.createGroups([shard])
    _ = try await queue.send([
      "XREADGROUP", "GROUP", .string(DeliveryQueue.group), "dead", "STREAMS", .string(Keys.ready(.intake, shard)), ">",
    ])
    try await eventually("it is taken over") {
      #expect(await consumer.reclaim(shard).messages.isEmpty)
      return try await queue.send(["XLEN", .string(Keys.dead(.intake, shard))]).integer == 1
    }
    return shard
  }

  func worked(_ queue: DeliveryQueue, until isDone: ([String]) async throws -> Bool) async throws {
    let names = Mutex<[String]>([])
    let worker = QueueWorker(queue: .intake, deliveries: queue) { lease in
      names.withLock { $0.append(lease.message.attributes["natural"] ?? "") }
      return .complete(verified(lease.message.attributes["natural"] ?? ""))
    }
    let run = Task { await worker.run() }
    try await eventually("it is worked") { try await isDone(names.withLock { $0 }) }
    worker.stop()
    await run.value
  }

  @Test func `An entry of another form becomes a dead letter with all it has, and what is behind it in its line is worked`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let ids = try await ["a", "b"].asyncMap { try await queue.accept(request($0, order: "x", keepsOrder: true)).id }
      // The first one's envelope, as another version might write it.
      let ready = RedisArgument.string(Keys.ready(.intake, ids[0].shard))
      let entry = try #require(try await queue.send(["XRANGE", ready, "-", "+"]).array?.first?.array)
      var words = try #require(entry[1].array?.map { RedisArgument.bytes($0.bytes ?? []) })
      let place = try #require(entry[1].array?.firstIndex { $0.string == "a" })
      words[place + 1] = "no envelope"
      _ = try await queue.send(["XDEL", ready, .string(try #require(entry[0].string))])
      try await Self.put(words + ["more", "kept"], ids[0].shard, queue)

      try await worked(queue) { names in
        let dead = try await administration.snapshot(.intake).dead
        return names == ["b"] && dead == 1
      }
      let letter = try #require(try await administration.deadLetters(.intake, most: 10).first)
      #expect(letter.id == ids[0] && letter.kind == "test" && letter.lastError == UnreadableEntry.reason)
      #expect(letter.receivedAt == nil && letter.diedAt > 0)
      #expect(try await queue.delivery(ids[0])?.state == .dead)
      let kept = EventFeed.fields(
        try await queue.send(["XRANGE", .string(Keys.dead(.intake, ids[0].shard)), "-", "+"]).array?.first?.array?.last ?? .null)
      #expect(kept["more"]?.string == "kept" && kept["b"]?.string == "a/" && kept["a"]?.string == "no envelope")
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)

      // A version that can read it could be given it again; this one makes a letter of it again.
      #expect(try await administration.replay(.intake, ids: []) == 1)
      #expect(try await administration.snapshot(.intake).depth == 1)
      try await worked(queue) { _ in try await administration.snapshot(.intake).dead == 1 }
      #expect(try await administration.purge(.intake, ids: [ids[0]]) == 1)
    }
  }

  @Test func `An entry that tells nothing of a delivery becomes a letter that can only be deleted`() async throws {
    try await withQueue({ $0.lease = .milliseconds(1) }) { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let shard = try await Self.bury(queue)
      let letter = try #require(try await administration.deadLetters(.intake, most: 10).first)
      #expect(letter.id.shard == shard && letter.kind.isEmpty && letter.lastError == UnreadableEntry.reason)
      #expect(try await administration.replay(.intake, ids: []) == 0)
      #expect(try await administration.purge(.intake, ids: [letter.id]) == 1)
      #expect(try await administration.snapshot(.intake) == QueueSnapshot(queue: .intake))
    }
  }

  @Test func `A delivery's id in another shard's stream is not believed`() {
    let id = DeliveryID(shard: Shard(7), digest: String(repeating: "a", count: 32))
    func entry(_ id: String) throws -> UnreadableEntry {
      UnreadableEntry(entryID: "1-1", fields: try reply(["i", .string(id), "k", "test", "b", "x", "a", "no"]))
    }
    #expect(throws: Never.self) {
      #expect(try entry(id.description).letterID(in: Shard(7)) == id)
      #expect(try entry(id.description).canBePutBack(in: Shard(7)))
      let other = try entry(id.description).letterID(in: Shard(8))
      #expect(other.shard == Shard(8) && other.digest != id.digest)
      #expect(try !entry(id.description).canBePutBack(in: Shard(8)))
      #expect(try !entry("7-a").canBePutBack(in: Shard(7)))
    }
  }

  @Test func `What is no token becomes a dead letter, and the tokens beside it are worked`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let tests = DeadlineWorkerTests()
      let id = try await queue.accept(tests.token("t", deadline: DeliveryQueue.now + 60_000)).id
      try await Self.put(["i", "none", "k", "test"], id.shard, queue, .tokens)
      let worked = Mutex(0)
      try await tests.working(queue) { _ in
        worked.withLock { $0 += 1 }
        return .complete(Completion(state: .done, events: []))
      } while: {
        try await eventually("one is worked and one is dead") {
          let dead = try await administration.snapshot(.tokens).dead
          return worked.withLock { $0 } == 1 && dead == 1
        }
      }
      #expect(try await administration.snapshot(.tokens).inFlight == 0)
    }
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
