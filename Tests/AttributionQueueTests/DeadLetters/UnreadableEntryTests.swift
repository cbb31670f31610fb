import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// Unreadable entries become dead letters and do not block other messages.
@Suite struct UnreadableEntryTests {
  /// Adds an entry to a ready stream.
  static func put(_ words: [RedisArgument], _ shard: Shard, _ queue: DeliveryQueue, _ name: QueueName = .intake) async throws {
    _ = try await queue.send(["XADD", .string(Keys.ready(name, shard)), "*"] + words)
  }

  /// Adds an unreadable entry to an empty shard. A worker leases it and dies, and another one makes it a dead letter. Returns the shard.
  @discardableResult
  static func addDeadLetter(_ queue: DeliveryQueue) async throws -> Shard {
    var shard = Shard(0)
    while try await queue.send(["EXISTS", .string(Keys.ready(.intake, shard))]).integer == 1 { shard = Shard(shard.index + 1) }
    try await put(["z", "1"], shard, queue)
    let consumer = QueueConsumer(queue: .intake, deliveries: queue)
    try await consumer.createGroups([shard])
    _ = try await queue.send([
      "XREADGROUP", "GROUP", .string(DeliveryQueue.group), "dead", "STREAMS", .string(Keys.ready(.intake, shard)), ">",
    ])
    let settlement = Settlement(queue: .intake, deliveries: queue) { _ in }
    try await eventually("it is taken over") {
      var call = CommitBatch(.intake, shard, expectedCount: 1, queue)
      for entry in try await consumer.reclaim(shard).entries.array ?? [] {
        let parts = try #require(entry.array)
        #expect(
          settlement.message(
            parts[0].string ?? "", parts[1], begun: parts[2].integer ?? 0, consumer: consumer.name, in: &call) == nil)
      }
      if !call.isEmpty { try await settlement.commit(call, as: .consumer(consumer.name)) }
      return try await queue.send(["XLEN", .string(Keys.dead(.intake, shard))]).integer == 1
    }
    return shard
  }

  func worked(_ queue: DeliveryQueue, until isDone: ([String]) async throws -> Bool) async throws {
    let names = Mutex<[String]>([])
    let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random()) { lease in
      names.withLock { $0.append(lease.message.attributes["natural"] ?? "") }
      return .complete(verified(lease.message.attributes["natural"] ?? ""))
    }
    let run = Task { await worker.run() }
    try await eventually("it is worked") { try await isDone(names.withLock { $0 }) }
    worker.stop()
    await run.value
  }

  /// Replaces the entry of a ready message by one with an unreadable envelope and additional fields.
  func spoil(_ id: DeliveryID, _ queue: DeliveryQueue, more: [RedisArgument] = []) async throws {
    let ready = RedisArgument.string(Keys.ready(.intake, id.shard))
    let entry = try #require(try await queue.send(["XRANGE", ready, "-", "+"]).array?.first?.array)
    var words = try #require(entry[1].array?.map { RedisArgument.bytes($0.bytes ?? []) })
    let place = try #require(entry[1].array?.firstIndex { $0.string == "a" })
    words[place + 1] = "no envelope"
    _ = try await queue.send(["XDEL", ready, .string(try #require(entry[0].string))])
    try await Self.put(words + more, id.shard, queue)
  }

  func acceptLine(_ names: [String], _ queue: DeliveryQueue) async throws -> [DeliveryID] {
    var ids: [DeliveryID] = []
    for name in names { ids.append(try await queue.accept(request(name, order: "x", keepsOrder: true)).id) }
    return ids
  }

  func firstLetter(_ shard: Shard, _ queue: DeliveryQueue) async throws -> [String: RedisReply] {
    let letters = try await queue.send(["XRANGE", .string(Keys.dead(.intake, shard)), "-", "+"])
    return EventFeed.fields(letters.array?.first?.array?.last ?? .null)
  }

  @Test func `An entry of another form becomes a dead letter with all its fields, and later messages of its order line are processed`()
    async throws
  {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let ids = try await acceptLine(["a", "b"], queue)
      try await spoil(ids[0], queue)
      try await worked(queue) { names in
        let dead = try await administration.snapshot(.intake).dead
        return names == ["b"] && dead == 1
      }
      let letter = try #require(try await administration.deadLetters(.intake, limit: 10).first)
      #expect(letter.id == ids[0] && letter.kind == "test" && letter.lastError == UnreadableEntry.reason)
      #expect(letter.receivedAt == nil && letter.diedAt > 0)
      #expect(try await queue.delivery(ids[0])?.state == .dead)
      let kept = try await firstLetter(ids[0].shard, queue)
      #expect(kept["b"]?.string == "a/" && kept["a"]?.string == "no envelope")
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)

      // After a replay a version that can read it could process it; this one makes a dead letter of it again.
      #expect(try await administration.replay(.intake, ids: []) == 1)
      #expect(try await administration.snapshot(.intake).depth == 1)
      try await worked(queue) { _ in try await administration.snapshot(.intake).dead == 1 }
      #expect(try await administration.purge(.intake, ids: [ids[0]]) == 1)
    }
  }

  @Test(arguments: [1, 5000]) func `An entry with unknown fields keeps them, and is not replayed without them`(count: Int)
    async throws
  {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let id = try await queue.accept(request("a")).id
      let more = (0..<count).flatMap { ["more\($0)", "kept", "x", "own"] }
      try await spoil(id, queue, more: more.map { .string($0) })
      try await worked(queue) { _ in try await administration.snapshot(.intake).dead == 1 }
      let kept = try await firstLetter(id.shard, queue)
      #expect(count == 1 ? kept["more0"]?.string == "kept" && kept["own x"]?.string == "own" : (kept["fields"]?.bytes?.count ?? 0) > 60_000)
      #expect(kept["x"]?.string == UnreadableEntry.reason)
      #expect(try await administration.replay(.intake, ids: []) == 0)
      #expect(try await administration.snapshot(.intake).dead == 1)
      #expect(try await administration.purge(.intake, ids: [id]) == 1)
    }
  }

  @Test(arguments: [Int64.min, -(1 << 53), -1, (1 << 53) - 1, 1 << 53, .max], [QueueName.intake, .sessions])
  func `A message with any numbers in its entry is completed, retried or becomes a dead letter`(number: Int64, name: QueueName) async throws
  {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let many = 12
      for place in 0..<many {
        let shard = Shard(place)
        let id = DeliveryID(shard: shard, digest: String(repeating: "ab", count: 16))
        let received = place % 2 == 0 ? number : 1
        let envelope = RedisArgument.string(#"{"r":\#(received),"s":"public"}"#)
        try await Self.put(
          ["i", .string(id.description), "k", "test", "b", "x", "a", envelope, "n", .integer(number), "h", ""]
            + (place % 3 == 0 ? ["r", .integer(number)] : []), shard, queue, name)
      }
      let outcomes: [WorkOutcome] = [
        .complete(Completion(state: .done, events: [])), .deadLetter(error: "x"), .wait(.zero), .giveBack,
        .retry(after: nil, error: "x"), .retry(after: .zero, error: "x"),
      ]
      let turns = Mutex<[Shard: Int]>([:])
      let worker = ShardWorker(queue: name, deliveries: queue, pace: .random()) { lease in
        let turn = turns.withLock { turns in
          turns[lease.shard, default: 0] += 1
          return turns[lease.shard, default: 0]
        }
        return turn > 1 ? .deadLetter(error: "x") : outcomes[lease.shard.index % outcomes.count]
      }
      let run = Task { await worker.run() }
      try await eventually("all are settled") {
        let left = try await administration.snapshot(name)
        return left.depth + left.inFlight + left.delayed == 0
      }
      worker.stop()
      await run.value
      #expect(try await administration.snapshot(name).dead >= 10)
    }
  }

  @Test func `Unreadable payloads become dead letters in order, and later messages are not delayed`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      queue.linesEnteredWhenVerified.withLock { $0 = false }
      let ids = try await acceptLine(["a", "b", "c", "d"], queue)
      try await spoil(ids[0], queue)
      // Messages that wait in their order line: one with an invalid payload, and one with too few values.
      let payloads = RedisArgument.string(Keys.payloads(.intake, ids[0].shard))
      _ = try await queue.send(["HSET", payloads, .string(ids[1].description), "no payload"])
      // {"k"} in MessagePack.
      _ = try await queue.send(["HSET", payloads, .string(ids[2].description), .bytes([0x91, 0xa1, 0x6b])])
      // One that is due at a certain time.
      let late = try await queue.accept(request("late", notBefore: DeliveryQueue.now + 50)).id
      _ = try await queue.send(["HSET", .string(Keys.payloads(.intake, late.shard)), .string(late.description), "no payload"])
      try await worked(queue) { names in
        let dead = try await administration.snapshot(.intake).dead
        return names == ["d"] && dead == 4
      }
      #expect(Set(try await administration.deadLetters(.intake, limit: 10).map(\.id)) == Set(ids[..<3] + [late]))
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)
      #expect(try await administration.snapshot(.intake).delayed == 0)
    }
  }

  @Test func `An entry that names a delivery of another shard becomes a dead letter and delays no other`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let id = try await queue.accept(request("a")).id
      let other = Shard(id.shard.index + 1)
      let ready = RedisArgument.string(Keys.ready(.intake, id.shard))
      let entry = try #require(try await queue.send(["XRANGE", ready, "-", "+"]).array?.first?.array?.last?.array)
      let words = entry.map { RedisArgument.bytes($0.bytes ?? []) }
      try await Self.put(words, other, queue)
      try await worked(queue) { names in
        let dead = try await administration.snapshot(.intake).dead
        return names == ["a"] && dead == 1
      }
      let letter = try #require(try await administration.deadLetters(.intake, limit: 10).first)
      #expect(letter.id != id && letter.id.shard == other)
      #expect(try await firstLetter(other, queue)["own i"]?.string == id.description)
      #expect(try await queue.delivery(id)?.state == .verified)
    }
  }

  @Test func `An entry without a delivery id becomes a dead letter that can only be deleted`() async throws {
    try await withQueue({ $0.lease = .milliseconds(1) }) { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let shard = try await Self.addDeadLetter(queue)
      let letter = try #require(try await administration.deadLetters(.intake, limit: 10).first)
      #expect(letter.id.shard == shard && letter.kind.isEmpty && letter.lastError == UnreadableEntry.reason)
      #expect(try await administration.replay(.intake, ids: []) == 0)
      #expect(try await administration.purge(.intake, ids: [letter.id]) == 1)
      #expect(try await administration.snapshot(.intake) == QueueSnapshot(queue: .intake))
    }
  }

  @Test func `A delivery id in the stream of another shard is not trusted`() {
    let id = DeliveryID(shard: Shard(7), digest: String(repeating: "a", count: 32))
    func entry(_ id: String) throws -> UnreadableEntry {
      UnreadableEntry(entryID: "1-1", fields: try reply(["i", .string(id), "k", "test", "b", "x", "a", "no"]))
    }
    #expect(throws: Never.self) {
      #expect(try entry(id.description).deadLetterID(in: Shard(7)) == id)
      #expect(try entry(id.description).isReplayable(in: Shard(7)))
      let other = try entry(id.description).deadLetterID(in: Shard(8))
      #expect(other.shard == Shard(8) && other.digest != id.digest)
      #expect(try !entry(id.description).isReplayable(in: Shard(8)))
      #expect(try !entry("7-a").isReplayable(in: Shard(7)))
    }
  }

  @Test func `An invalid token becomes a dead letter, and other tokens are processed`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      let tests = DeadlineWorkerTests()
      let id = try await queue.accept(tests.token("t", deadline: DeliveryQueue.now + 60_000)).id
      try await Self.put(["i", "none", "k", "test"], id.shard, queue, .tokens)
      // A token with an invalid payload.
      let spoilt = try await queue.accept(tests.token("s", deadline: DeliveryQueue.now + 60_000)).id
      _ = try await queue.send(["HSET", .string(Keys.payloads(.tokens, spoilt.shard)), .string(spoilt.description), "no payload"])
      let late = try await queue.accept(tests.token("l", deadline: DeliveryQueue.now + 60_000, notBefore: DeliveryQueue.now + 50)).id
      _ = try await queue.send(["HSET", .string(Keys.payloads(.tokens, late.shard)), .string(late.description), "no payload"])
      let worked = Mutex(0)
      try await tests.working(queue) { _ in
        worked.withLock { $0 += 1 }
        return .complete(Completion(state: .done, events: []))
      } while: {
        try await eventually("one is worked and the others are dead") {
          let dead = try await administration.snapshot(.tokens).dead
          return worked.withLock { $0 } == 1 && dead == 3
        }
      }
      #expect(try await administration.snapshot(.tokens).inFlight == 0)
    }
  }
}
