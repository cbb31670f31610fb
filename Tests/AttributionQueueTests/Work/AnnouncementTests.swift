import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// An accept into an empty stream publishes the message, so that the shard's owner need not read it.
@Suite struct AnnouncementTests {
  /// Returns the publications on the channels of the shards while `body` runs.
  private func published(_ queue: DeliveryQueue, _ shards: [Shard], _ body: () async throws -> Void) async throws -> [(Shard, [UInt8])] {
    let found = Mutex<[(Shard, [UInt8])]>([])
    let subscriptions = ShardSubscriptions(.intake, queue, loop: 0) { shard, message in
      // The callback is also called when a shard's subscription begins.
      if !message.isEmpty || found.withLock({ $0.contains { $0.0 == shard } }) { found.withLock { $0.append((shard, message)) } }
    }
    for shard in shards { subscriptions.add(shard) }
    try await eventually("the shards are subscribed") {
      await subscriptions.update()
      return subscriptions.isComplete
    }
    try await body()
    let end = ContinuousClock.now + .milliseconds(300)
    while ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(20)) }
    subscriptions.close()
    return found.withLock { $0 }
  }

  @Test func `An announcement has the format of an XRANGE reply, and is sent only for the first message of an empty stream`() async throws {
    try await withQueue { queue, _ in
      let shard = queue.deliveryID(for: request("a", order: "one")).shard
      let told = try await published(queue, [shard]) {
        for name in ["a", "b"] { _ = try await queue.accept(request(name, order: "one")) }
      }
      #expect(told.filter { !$0.1.isEmpty }.count == 1)
      let read = try #require(ShardWorker.ReadEntries(announcement: told.first?.1 ?? []))
      #expect(read.isAnnounced && read.count == 1)
      let entries = try await queue.send(["XRANGE", .string(Keys.ready(.intake, shard)), "-", "+"])
      #expect(describe(read.entries.first { _ in true }) == describe(entries.elements.first { _ in true }))
    }
  }

  private func describe(_ reply: RedisReply?) -> [String] {
    guard let reply else { return [] }
    return reply.array?.flatMap { describe($0) } ?? [reply.string ?? ""]
  }

  @Test func `Long messages and messages that keep their order are not announced`() async throws {
    try await withQueue { queue, _ in
      for (length, isTold) in [(4096, true), (4097, false)] {
        var long = request("long\(length)", order: "long\(length)")
        // Accept adds an attribute: the digest of the idempotency key, 32 digits.
        long.message.claim = String(repeating: "0", count: 32)
        long.message.body = [UInt8](repeating: 65, count: length - long.message.envelope.count)
        let accepted = long
        let told = try await published(queue, [queue.deliveryID(for: long).shard]) { _ = try await queue.accept(accepted) }
        #expect(told.contains { !$0.1.isEmpty } == isTold, "\(length)")
      }
      // Workers of other queues use no announcements.
      let session = request("s", order: "sessions", queue: .sessions)
      let quiet = ShardSubscriptions(.sessions, queue, loop: 0) { _, message in #expect(message.isEmpty) }
      quiet.add(queue.deliveryID(for: session).shard)
      try await eventually("it is subscribed") {
        await quiet.update()
        return quiet.isComplete
      }
      _ = try await queue.accept(session)
      quiet.close()
      let ordered = request("o", order: "ordered", keepsOrder: true)
      let told = try await published(queue, [queue.deliveryID(for: ordered).shard]) { _ = try await queue.accept(ordered) }
      #expect(!told.contains { !$0.1.isEmpty })
    }
  }

  @Test(arguments: [true, false])
  func `A message that was settled before its announcement is not settled again`(isPlain: Bool) async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let words = Mutex<[String]>([])
      let settlement = Settlement(queue: .intake, deliveries: queue) {
        if case .processed(let word, _, _, _) = $0 { words.withLock { $0.append(word) } }
      }
      func call() -> CommitBatch {
        owned.batch(queue, 0..<1) { _, natural in
          var completion = verified(natural)
          completion.keptBody = isPlain ? nil : KeptBody()
          return completion
        }
      }
      #expect(try await settlement.commitAnnounced(call(), owned.ownership) == 1)
      let record = try await queue.delivery(owned.messages[0].deliveryID)
      #expect(try await settlement.commitAnnounced(call(), owned.ownership) == nil)
      // The next message is the first of the stream, and is not confused with the announced one.
      #expect(try await queue.delivery(owned.messages[0].deliveryID) == record)
      #expect(words.withLock { $0 } == ["verified"])
      #expect(try await queue.allEvents() == ["e-a"])
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 1)
    }
  }

  @Test func `An announced message whose natural key was claimed before is a duplicate`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "a"])
      let words = Mutex<[String]>([])
      let settlement = Settlement(queue: .intake, deliveries: queue) {
        if case .processed(let word, _, _, _) = $0 { words.withLock { $0.append(word) } }
      }
      #expect(try await settlement.commitAnnounced(owned.batch(queue, 0..<1), owned.ownership) == 1)
      #expect(try await settlement.commitAnnounced(owned.batch(queue, 1..<2), owned.ownership) == 0)
      #expect(try await queue.allEvents() == ["e-a"])
      #expect(words.withLock { $0 } == ["verified", "duplicate"])
    }
  }

  @Test func `A message without a claim and without an event is settled once too`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let words = Mutex<[String]>([])
      let settlement = Settlement(queue: .intake, deliveries: queue) {
        if case .processed(let word, _, _, _) = $0 { words.withLock { $0.append(word) } }
      }
      func call() -> CommitBatch {
        owned.batch(queue, 0..<1) { _, _ in Completion(state: .done, events: []) }
      }
      #expect(try await settlement.commitAnnounced(call(), owned.ownership) == 1)
      #expect(try await settlement.commitAnnounced(call(), owned.ownership) == nil)
      #expect(words.withLock { $0 } == ["done"])
    }
  }

  /// The number of reads of streams, once no more reads occur.
  private func reads(_ queue: DeliveryQueue) async throws -> Int {
    var (before, now) = (-1, 0)
    while now != before {
      before = now
      try await Task.sleep(for: .milliseconds(300))
      let lines = (try await queue.send(["INFO", "commandstats"]).string ?? "").split(separator: "\r\n")
      let line = lines.first { $0.hasPrefix("cmdstat_xrange:calls=") }
      now = line.flatMap { Int($0.split(separator: "=")[1].prefix { $0 != "," }) } ?? 0
    }
    return now
  }

  private func withWorker(_ queue: DeliveryQueue, _ body: () async throws -> Void) async throws {
    let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing) { lease in
      lease.message.body == Array("forged".utf8)
        ? .deadLetter(error: "forged") : .complete(verified(lease.message.attributes["natural"] ?? ""))
    }
    let run = Task { await worker.run() }
    try await eventually("all shards are owned") { worker.owned == Shard.count }
    // The shards are read when their subscriptions begin.
    _ = try await reads(queue)
    try await body()
    worker.stop()
    await run.value
  }

  @Test func `A worker settles an announced message with any bytes without reading it`() async throws {
    try await withQueue { queue, _ in
      try await withWorker(queue) {
        try await queue.redis.send(["CONFIG", "RESETSTAT"])
        // The messages are in different shards, so each enters an empty stream.
        var shards: Set<Shard> = []
        let orders = (0..<1000).map { "o\($0)" }.filter { shards.insert(queue.deliveryID(for: request("n", order: $0)).shard).inserted }
        for (place, body) in [[], [13, 10, 0, 255, 36], Array("$5\r\nhello\r\n*3\r\n".utf8), Array("ä€😀".utf8)].enumerated() {
          var message = request("n\(place)", order: orders[place])
          message.message.body = body
          message.message.attributes["natural"] = "nä\(place)"
          _ = try await queue.accept(message)
        }
        try await eventually("all are settled") { try await queue.allEvents().count == 4 }
        // The script reads once for each message; a worker would read once more. Each query for the events reads all shards.
        #expect(try await reads(queue) % Shard.count == 4)
      }
      #expect(Set(try await queue.allEvents()) == Set((0..<4).map { "e-nä\($0)" }))
    }
  }

  @Test(arguments: [
    "nonsense", "*1\r\n*2\r\n$3\r\n9-1\r\n*2\r\n$1\r\ni\r\n$1\r\nx\r\n", "*0\r\n", "$1\r\nx\r\n", "*1\r\n*2\r\n$3\r\n9-",
    "*1\r\n*2\r\n$41\r\n18446744073709551615-18446744073709551615\r\n*8\r\n$1\r\ni\r\n$ID\r\n$1\r\nk\r\n$1\r\nt\r\n$1\r\nb\r\n$1\r\nx\r\n"
      + "$1\r\na\r\n$17\r\n{\"r\":1,\"s\":\"rpc\"}\r\n",
    "*1\r\n*2\r\n$ENTRY\r\n*8\r\n$1\r\ni\r\n$ID\r\n$1\r\nk\r\n$1\r\nt\r\n$1\r\nb\r\n$6\r\nforged\r\n$1\r\na\r\n$17\r\n{\"r\":1,\"s\":\"rpc\"}\r\n",
    "*1\r\n*2\r\n$ENTRY\r\n*10\r\n$1\r\ni\r\n$ID\r\n$1\r\nk\r\n$1\r\nt\r\n$1\r\nb\r\n$6\r\nforged\r\n$1\r\na\r\n$17\r\n{\"r\":1,\"s\":\"rpc\"}\r\n"
      + "$1\r\nn\r\n$19\r\n9223372036854775807\r\n",
    "*1\r\n*2\r\n$ENTRY\r\n*2\r\n$1\r\ni\r\n$1\r\nx\r\n",
  ])
  func `For any publication on a shard's channel, each message becomes one event`(_ text: String) async throws {
    try await withQueue { queue, _ in
      try await withWorker(queue) {
        for place in 0..<20 {
          let message = request("n\(place)", order: "o\(place)")
          let id = queue.deliveryID(for: message)
          _ = try await queue.accept(message)
          let entry = try await queue.send(["XRANGE", .string(Keys.ready(.intake, id.shard)), "-", "+"]).elements.first { _ in true }
          let entryID = entry?.elements.first { _ in true }?.string ?? "1-1"
          let forged = text.replacing("$ENTRY", with: "$\(entryID.utf8.count)\r\n\(entryID)").replacing(
            "$ID", with: "$\(id.description.utf8.count)\r\n\(id.description)")
          try await queue.redis.send(["SPUBLISH", .string(Keys.ready(.intake, id.shard)), .string(forged)])
        }
        try await eventually("all are settled") { try await queue.allEvents().count == 20 }
      }
      #expect(Set(try await queue.allEvents()) == Set((0..<20).map { "e-n\($0)" }))
      for shard in Shard.all { #expect(try await queue.send(["XLEN", .string(Keys.dead(.intake, shard))]).integer == 0) }
    }
  }

  @Test(arguments: [true, false])
  func `An announcement with another body than the entry's does not decide about the entry`(isReadable: Bool) async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a"])
      let settlement = Settlement(queue: .intake, deliveries: queue, observe: { _ in })
      let text = { (name: String, value: String) in "$1\r\n\(name)\r\n$\(value.utf8.count)\r\n\(value)\r\n" }
      let id = isReadable ? owned.messages[0].deliveryID.description : "x"
      let fields = try #require(
        RedisReply(
          parsing: Array(
            ("*8\r\n" + text("i", id) + text("k", "test") + text("b", "forged") + text("a", #"{"r":1,"s":"public"}"#)).utf8)))
      var call = CommitBatch(.intake, owned.shard, expectedCount: 1, queue)
      if let forged = settlement.message(owned.messages[0].entryID, fields, begun: 1, consumer: "", in: &call) {
        call.addDeadLetter(forged, error: "forged")
      }
      #expect(try await settlement.commitAnnounced(call, owned.ownership) == nil)
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 1)
      #expect(try await queue.send(["XLEN", .string(Keys.dead(.intake, owned.shard))]).integer == 0)
    }
  }
}
