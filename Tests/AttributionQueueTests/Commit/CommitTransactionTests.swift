import EventLoops
import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

@Suite struct CommitTransactionTests {
  private func group(_ queue: DeliveryQueue) -> GroupCommit { GroupCommit(queue, EventLoopExecutor.all()[0], number: 0) }

  /// Settles a batch by a transaction if it is plain.
  private func settle(_ call: CommitBatch, _ ownership: ShardOwnership, _ group: GroupCommit) async throws -> Int64? {
    guard let batch = PlainBatch(call, ownership), case .settled(let left) = try await group.settle(batch) else { return nil }
    return left
  }

  private func calls(_ command: String, _ queue: DeliveryQueue) async throws -> Int {
    let text = try await queue.send(["INFO", "commandstats"]).string ?? ""
    let line = text.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_\(command):calls=") }
    return line.flatMap { Int($0.split(separator: "=")[1].prefix { $0 != "," }) } ?? 0
  }

  @Test func `A plain batch is settled without the script, with the same result as by the script`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b", "c"])
      let group = group(queue)
      let left = try await settle(
        owned.batch(queue, 0..<2) { _, natural in
          var completion = verified(natural)
          completion.events[0].attributes = EventAttributes(
            adNetworkId: "example.skadnetwork", appAppleId: 525_463_029, bundleId: "com.example.app", environment: "production")
          return completion
        }, owned.ownership, group)
      #expect(left == 1)
      #expect(try await calls("exec", queue) == 1)
      let events = try await queue.send(["XRANGE", .string(Keys.events(owned.shard)), "-", "+"]).array ?? []
      let first = EventFeed.fields(events.first?.array?.last ?? .null).mapValues { $0.string ?? "" }
      #expect(
        first == [
          "i": "e-a", "t": "t.a", "e": #"{"id":"e-a"}"#, "v": "production", "n": "example.skadnetwork", "p": "525463029",
          "b": "com.example.app",
        ])
      for event in events {
        let id = EventFeed.fields(event.array?.last ?? .null)["i"]?.string ?? ""
        #expect(
          try await queue.send(["HGET", .string(Keys.eventsIndex(owned.shard)), .string(id)]).string == event.array?.first?.string)
      }
      let record = try #require(try await queue.delivery(owned.messages[0].deliveryID))
      #expect(record.state == .verified && record.eventId == "e-a")
      #expect((1...86_400).contains(try await queue.send(["TTL", .string(Keys.delivery(owned.messages[0].deliveryID))]).integer ?? -1))
      #expect(try await queue.isNaturalKeySeen("a", orderKey: "one", long: false))
      #expect(!(try await queue.isNaturalKeySeen("c", orderKey: "one", long: false)))
      group.close()
    }
  }

  @Test func `While four small batches are being settled, further ones are settled together`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, (0..<GroupCommit.minMessages).map { "n\($0)" })
      let group = group(queue)
      let small = try #require(PlainBatch(owned.batch(queue, 0..<GroupCommit.minMessages - 1), owned.ownership))
      let large = try #require(PlainBatch(owned.batch(queue, 0..<GroupCommit.minMessages), owned.ownership))
      #expect(!group.beginScriptCommit(large))
      for _ in 0..<4 {
        #expect(!group.isBusy)
        #expect(group.beginScriptCommit(small))
      }
      #expect(group.isBusy && !group.beginScriptCommit(small))
      let settlement = Settlement(queue: .intake, deliveries: queue, observe: { _ in })
      #expect(try await settlement.commit(owned.batch(queue, 0..<1), as: .owner(owned.ownership), group: group) == 7)
      #expect(try await calls("exec", queue) == 1)
      group.endScriptCommit()
      #expect(!group.isBusy)
      #expect(try await settlement.commit(owned.batch(queue, 1..<2), as: .owner(owned.ownership), group: group) == 6)
      #expect(try await calls("exec", queue) == 1)
      #expect(group.beginScriptCommit(small))
      group.close()
    }
  }

  @Test func `A new bucket gets an expiry, and an existing one keeps its own`() async throws {
    try await withQueue {
      $0.seenBuckets = 1
    } _: { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let group = group(queue)
      let bucket = RedisArgument.string(
        queue.deduplication.claim("a", scope: .delivery, shard: owned.shard, now: DeliveryQueue.now).buckets[0])
      // The bucket exists, because it has the deliveries' own claims.
      try await queue.redis.send(["DEL", bucket])
      #expect(try await settle(owned.batch(queue, 0..<1), owned.ownership, group) == 1)
      #expect((try await queue.send(["TTL", bucket]).integer ?? -1) > 10 * 86_400)
      try await queue.redis.send(["EXPIRE", bucket, "1000"])
      #expect(try await settle(owned.batch(queue, 1..<2), owned.ownership, group) == 0)
      #expect((1...1000).contains(try await queue.send(["TTL", bucket]).integer ?? -1))
      #expect(try await queue.send(["SCARD", bucket]).integer == 2)
      group.close()
    }
  }

  @Test func `An expired record is written again with an expiry`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a"])
      let group = group(queue)
      let record = RedisArgument.string(Keys.delivery(owned.messages[0].deliveryID))
      try await queue.redis.send(["DEL", record])
      #expect(try await settle(owned.batch(queue, 0..<1), owned.ownership, group) == 0)
      #expect(try await queue.delivery(owned.messages[0].deliveryID)?.state == .verified)
      #expect((1...86_400).contains(try await queue.send(["TTL", record]).integer ?? -1))
      group.close()
    }
  }

  @Test func `Batches that need the script are left unchanged`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b", "a", "c"])
      let group = group(queue)
      // A natural key that occurs twice in one batch.
      #expect(try await settle(owned.batch(queue, 0..<3), owned.ownership, group) == nil)
      // For example, an event without a natural key, which the index must not contain, a body that is stored, or a claim that is deleted.
      let adjustments: [@Sendable (inout Completion) -> Void] = [
        { $0.naturalKey = nil }, { $0.keptBody = KeptBody() }, { $0.mayBeAcceptedAgain = true }, { $0.events.append($0.events[0]) },
        { $0.deadLetter = "why" }, { $0.ownRecord = OwnRecord(service: "s", name: "n", value: [1], ttl: .seconds(1)) },
      ]
      for adjust in adjustments {
        let call = owned.batch(queue, 0..<1) { _, natural in
          var completion = verified(natural)
          adjust(&completion)
          return completion
        }
        #expect(PlainBatch(call, owned.ownership) == nil)
      }
      // A message on which a former owner may have crashed, and one whose record gets a new expiry.
      for (isSuspected, later) in [(true, Int64(0)), (false, 86_400_000)] {
        var call = CommitBatch(.intake, owned.shard, expectedCount: 1, queue)
        call.complete(owned.messages[0], verified("a"), isSuspected: isSuspected, now: DeliveryQueue.now + later)
        #expect(PlainBatch(call, owned.ownership) == nil)
      }
      var retried = CommitBatch(.intake, owned.shard, expectedCount: 1, queue)
      retried.delay(owned.messages[0], .zero, error: "e", outcomeLabel: "retried")
      #expect(PlainBatch(retried, owned.ownership) == nil)
      // Settled apart from the messages before it.
      var apart = CommitBatch(.intake, owned.shard, expectedCount: 1, isFirst: false, queue)
      apart.complete(owned.messages[1], verified("b"), now: DeliveryQueue.now)
      #expect(PlainBatch(apart, owned.ownership) == nil)
      #expect(try await queue.allEvents().isEmpty)
      // A natural key that was claimed before.
      #expect(try await settle(owned.batch(queue, 0..<2), owned.ownership, group) == 2)
      #expect(try await settle(owned.batch(queue, 2..<4), owned.ownership, group) == nil)
      #expect(try await queue.allEvents() == ["e-a", "e-b"])
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 2)
      group.close()
    }
  }

  @Test func `A batch of a worker that lost its shard, or with messages before it, is left to the script, which refuses it`() async throws {
    try await withQueue { queue, _ in
      let count = GroupCommit.minMessages + 1
      let owned = try await OwnedMessages(queue, (0..<count).map { "n\($0)" })
      let group = group(queue)
      let settlement = Settlement(queue: .intake, deliveries: queue, observe: { _ in })
      // After a failover, the new primary may contain messages that were settled.
      await #expect(throws: QueueError.leaseLost) {
        try await settlement.commit(owned.batch(queue, 1..<count), as: .owner(owned.ownership), group: group)
      }
      #expect(try await calls("watch", queue) == 1)
      guard case .own = try await owned.ownership.take(.intake, owned.shard, for: "two", isAbandoned: false, queue) else {
        return #expect(Bool(false), "not taken")
      }
      await #expect(throws: QueueError.leaseLost) {
        try await settlement.commit(owned.batch(queue, 0..<count), as: .owner(owned.ownership), group: group)
      }
      #expect(try await queue.allEvents().isEmpty)
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == Int64(count))
      #expect(try await calls("watch", queue) == 2)
      #expect(try await calls("exec", queue) == 0)
      group.close()
    }
  }

  @Test(arguments: ["owner", "events", "originals", "listed", "nothing"])
  func `A transaction does nothing if shard, events, original bytes or listed events change after its queries`(
    _ what: String
  ) async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a"])
      let client = queue.redis.dedicated(commandTimeout: .seconds(5))
      let batch = try #require(PlainBatch(owned.batch(queue, 0..<1), owned.ownership))
      let transaction = CommitTransaction(batches: [batch])
      let session = try #require(try await client.session())
      guard case .found(let findings) = transaction.findings(try await session.send(transaction.checks, name: "q")) else {
        return #expect(Bool(false), "not found")
      }
      switch what {
      case "owner": _ = try await owned.ownership.take(.intake, owned.shard, for: "two", isAbandoned: false, queue)
      case "events": try await queue.redis.send(["XADD", .string(Keys.events(owned.shard)), "*", "i", "x", "t", "t", "e", "{}"])
      case "originals": try await queue.redis.send(["SADD", .string(Keys.originals(owned.shard)), "s"])
      case "listed":
        let feed = EventFeed(deliveries: queue)
        _ = try await feed.list(types: [], filter: FeedFilter(), from: 0, until: nil, after: nil, limit: 10)
      default: break
      }
      let commands = try #require(transaction.commands(findings))
      let replies = try await session.send(commands, ignoring: commands.count - 1, name: "c")
      switch try transaction.execution(try #require(replies.first), findings) {
      case .conflict: #expect(what != "nothing")
      case .executed: #expect(what == "nothing")
      case .refused(let text): #expect(Bool(false), "\(text)")
      }
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == (what == "nothing" ? 0 : 1))
      #expect(try await queue.isNaturalKeySeen("a", orderKey: "one", long: false) == (what == "nothing"))
      client.close()
    }
  }

  @Test func `Events are appended after the highest id that the stream ever had, even if that event is deleted or ahead of the clock`()
    async throws
  {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let group = group(queue)
      let events = RedisArgument.string(Keys.events(owned.shard))
      let ahead = "\(DeliveryQueue.now + 86_400_000)-18446744073709551615"
      try await queue.redis.send(["XADD", events, .string(ahead), "i", "x", "t", "t", "e", "{}"])
      try await queue.redis.send(["XDEL", events, .string(ahead)])
      #expect(try await settle(owned.batch(queue, 0..<2), owned.ownership, group) == 0)
      let ids = try await queue.send(["XRANGE", events, "-", "+"]).elements.compactMap { entry in
        entry.elements.first { _ in true }?.string.flatMap(EntryID.init)
      }
      #expect(ids.count == 2 && ids.allSatisfy { $0 > EntryID(ahead)! } && ids[0] < ids[1])
      group.close()
    }
  }

  @Test func `While a subscription asks for original bytes the script settles everything`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b"])
      let group = group(queue)
      try await queue.redis.send(["SADD", .string(Keys.originals(owned.shard)), "s"])
      #expect(try await settle(owned.batch(queue, 0..<1), owned.ownership, group) == nil)
      let asked = try await calls("watch", queue)
      // The next query is made only after a while.
      #expect(try await settle(owned.batch(queue, 0..<1), owned.ownership, group) == nil)
      #expect(try await calls("watch", queue) == asked)
      try await queue.redis.send(["DEL", .string(Keys.originals(owned.shard))])
      try await eventually("transactions are used again") {
        try await settle(owned.batch(queue, 0..<1), owned.ownership, group) == 1
      }
      group.close()
    }
  }

  @Test(arguments: ["watch", "multi", "exec", "xtrim"])
  func `If Redis refuses transactions, the script settles everything, and transactions are not tried each time`(_ command: String)
    async throws
  {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a", "b", "c"])
      try await queue.redis.send(["ACL", "SETUSER", "default", .string("-" + command)])
      let group = group(queue)
      for place in 0..<3 {
        #expect(try await settle(owned.batch(queue, place..<place + 1), owned.ownership, group) == nil)
      }
      #expect(try await calls("mget", queue) == 1)
      // No command was executed outside of a transaction.
      #expect(try await queue.allEvents().isEmpty)
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 3)
      try await queue.redis.send(["ACL", "SETUSER", "default", .string("+" + command)])
      let settlement = Settlement(queue: .intake, deliveries: queue, observe: { _ in })
      for place in 0..<3 {
        let left = try await settlement.commit(owned.batch(queue, place..<place + 1), as: .owner(owned.ownership), group: group)
        #expect(left == Int64(2 - place))
      }
      #expect(try await queue.allEvents() == ["e-a", "e-b", "e-c"])
      group.close()
    }
  }

  @Test func `An event stream without free ids is left to the script`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a"])
      let group = group(queue)
      let last = "18446744073709551615-18446744073709551615"
      try await queue.redis.send(["XADD", .string(Keys.events(owned.shard)), .string(last), "i", "x", "t", "t", "e", "{}"])
      #expect(try await settle(owned.batch(queue, 0..<1), owned.ownership, group) == nil)
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 1)
      group.close()
    }
  }

  @Test func `A Redis without free memory executes no transaction, and the script settles the batch`() async throws {
    try await withQueue { queue, _ in
      let names = (0..<GroupCommit.minMessages).map { "n\($0)" }
      let owned = try await OwnedMessages(queue, names)
      let group = group(queue)
      try await queue.redis.send(["CONFIG", "SET", "maxmemory", "1"])
      let settlement = Settlement(queue: .intake, deliveries: queue, observe: { _ in })
      #expect(try await settlement.commit(owned.batch(queue, 0..<names.count), as: .owner(owned.ownership), group: group) == 0)
      #expect(try await queue.allEvents() == names.map { "e-" + $0 })
      #expect(try await calls("watch", queue) == 1)
      group.close()
    }
  }

  @Test func `A key of another type prevents the transaction, and no batch of the group is lost`() async throws {
    try await withQueue { queue, _ in
      let owned = try await OwnedMessages(queue, ["a"])
      let group = group(queue)
      try await queue.redis.send(["SET", .string(Keys.events(owned.shard)), "by hand"])
      #expect(try await settle(owned.batch(queue, 0..<1), owned.ownership, group) == nil)
      #expect(!(try await queue.isNaturalKeySeen("a", orderKey: "one", long: false)))
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 1)
      group.close()
    }
  }

  @Test func `Simultaneous batches of several shards share transactions`() async throws {
    try await withQueue { queue, _ in
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing) { lease in
        .complete(verified(lease.message.attributes["natural"] ?? ""))
      }
      let names = (0..<600).map { "n\($0)" }
      for (place, name) in names.enumerated() { _ = try await queue.accept(request(name, order: "\(place % 30)")) }
      let run = Task { await worker.run() }
      try await eventually("all are settled") { try await queue.allEvents().count == names.count }
      worker.stop()
      await run.value
      #expect(Set(try await queue.allEvents()) == Set(names.map { "e-" + $0 }))
      #expect((1..<30).contains(try await calls("exec", queue)))
    }
  }

  @Test func `Random batches have the same result by transactions, by commit_plain.lua and by commit.lua`() async throws {
    try await withQueue { first, _ in
      try await withQueue { second, server in
        // With the same digest key, deliveries have the same ids and shards.
        let key = try #require(try await first.send(["GET", .string(Keys.digestKey)]).bytes)
        try await second.redis.send(["SET", .string(Keys.digestKey), .bytes(key)])
        let twin = try await DeliveryQueue.open(
          redis: try await server.client(), configuration: second.configuration, logger: quietLogger)
        for round in 0..<25 { try await compare(first, twin, copies: "\(round)-") }
      }
    }
  }

  private func compare(_ first: DeliveryQueue, _ second: DeliveryQueue, copies: String) async throws {
    let naturals = (0..<Int.random(in: 1...24)).map { _ in "n\(Int.random(in: 0..<60))" }
    var dice = (0..<naturals.count).map { _ in Int.random(in: 0..<10) }
    let sizes = (0..<naturals.count).map { _ in Int.random(in: 1...16) }
    if Bool.random() { dice = dice.map { _ in 0 } }
    var dumps: [[String]] = []
    for (queue, usesGroup) in [(first, true), (second, false)] {
      for key in try await queue.send(["KEYS", "{attr:*:q:*"]).elements.compactMap(\.string) {
        try await queue.redis.send(["DEL", .string(key)])
      }
      let owned = try await OwnedMessages(queue, naturals, copies: copies)
      let group = usesGroup ? group(queue) : nil
      let words = Mutex<[String]>([])
      let settlement = Settlement(queue: .intake, deliveries: queue) {
        if case .processed(let word, _, _, _) = $0 { words.withLock { $0.append(word) } }
      }
      var (place, turn) = (0, 0)
      while place < naturals.count {
        let end = min(place + sizes[turn], naturals.count)
        let call = owned.batch(queue, place..<end) { place, natural in
          var completion = verified(natural)
          switch dice[place] {
          case 1: completion.events = []
          case 2: completion.naturalKey = nil
          case 3: (completion.keptBody, completion.naturalKey) = (KeptBody(), nil)
          default: break
          }
          return completion
        }
        if let group {
          try await settlement.commit(call, as: .owner(owned.ownership), group: group)
        } else {
          _ = try await settlement.commitAnyBatch(call, .owner(owned.ownership))
        }
        (place, turn) = (end, turn + 1)
      }
      group?.close()
      dumps.append(words.withLock { $0 } + (try await dump(queue, owned.shard)))
    }
    try #require(dumps[0].count == dumps[1].count)
    for (first, second) in zip(dumps[0], dumps[1]) { #expect(first == second) }
  }

  /// All data of a shard, without times and ids that depend on them.
  private func dump(_ queue: DeliveryQueue, _ shard: Shard) async throws -> [String] {
    var lines: [String] = []
    for key in try await queue.send(["KEYS", .string("\(Keys.tag(shard))*")]).elements.compactMap(\.string).sorted() {
      let hasExpiry = (try await queue.send(["TTL", .string(key)]).integer ?? -1) > 0
      var content = ""
      switch try await queue.send(["TYPE", .string(key)]).string {
      case "set": content = try await queue.send(["SMEMBERS", .string(key)]).elements.compactMap(\.string).sorted().joined(separator: " ")
      case "stream":
        for entry in try await queue.send(["XRANGE", .string(key), "-", "+"]).array ?? [] {
          let fields = EventFeed.fields(entry.array?.last ?? .null).mapValues { $0.string ?? "" }
          let id = entry.array?.first?.string ?? ""
          var isIndexed = ""
          if key == Keys.events(shard), let event = fields["i"] {
            isIndexed = try await queue.send(["HGET", .string(Keys.eventsIndex(shard)), .string(event)]).string == id ? "indexed" : "not"
          }
          content += fields.filter { $0.key != "a" }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
          content += isIndexed + "\n"
        }
      case "hash": content = try await queue.send(["HKEYS", .string(key)]).elements.compactMap(\.string).sorted().joined(separator: " ")
      case "string":
        content = try await queue.send(["GET", .string(key)]).string ?? ""
        content = content.split(separator: ",").filter { !$0.hasPrefix("\"a\":") && !$0.hasPrefix("\"c\":") }.joined(separator: ",")
      default: content = "of another type"
      }
      lines.append("\(key) \(hasExpiry) \(content)")
    }
    return lines
  }
}
