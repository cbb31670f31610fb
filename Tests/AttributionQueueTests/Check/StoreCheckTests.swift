import RedisClient
import Testing
import WireJSON

@testable import AttributionQueue

/// Faults that are written into a real Redis by hand are found. The tests run one after the other, because each reads all shards.
@Suite(.serialized) struct StoreCheckTests {
  /// The ids of one message of each kind, and of a delivery whose event is in the index.
  struct Healthy {
    let ready, delayed, first, second, token, done: DeliveryID
  }

  static func fill(_ queue: DeliveryQueue) async throws -> Healthy {
    // Messages enter their order line when they are accepted.
    queue.linesEnteredWhenVerified.withLock { $0 = false }
    _ = try await EventFeed(deliveries: queue).create(name: "reader", types: [], start: .beginning)
    let done = try await queue.accept(request("done"))
    for lease in try await queue.leaseAll("w") { try await queue.complete(lease, verified("done")) }
    let token = AcceptRequest(
      queue: .tokens, idempotencyKey: "token", naturalKey: "token", keepsOrder: false,
      message: QueueMessage(kind: "test", body: [1], receivedAt: DeliveryQueue.now, source: "public"),
      deadline: DeliveryQueue.now + 86_400_000)
    let healthy = Healthy(
      ready: try await queue.accept(request("ready")).id,
      delayed: try await queue.accept(request("delayed", notBefore: DeliveryQueue.now + 3_600_000)).id,
      first: try await queue.accept(request("first", order: "x", keepsOrder: true)).id,
      second: try await queue.accept(request("second", order: "x", keepsOrder: true)).id,
      token: try await queue.accept(token).id, done: done.id)
    try await eventually("all that is noted beside the accepts is noted") {
      try await queue.send(["ZCARD", .string(Keys.schedule(.tokens))]).integer == 1
    }
    return healthy
  }

  static func check(_ queue: DeliveryQueue, repairs: Bool = false, walksKeys: Bool = true, maxFaults: Int = 1000) async throws
    -> CheckReport
  {
    var options = StoreCheck.Options()
    options.repairs = repairs
    options.walksKeys = walksKeys
    options.maxFaults = maxFaults
    options.pause = .milliseconds(50)
    return try await StoreCheck(redis: queue.redis, options: options).run()
  }

  static func name(_ fault: StoreFault) -> String { "\(fault.rule.rawValue) \(fault.shard.index) \(fault.key) \(fault.id)" }

  /// Expects that a check finds exactly these faults and writes nothing, and that a repair leaves no fault if they are repairable.
  func expect(
    _ rules: [StoreRule], _ queue: DeliveryQueue, isRepairable: Bool, _ keysAndIDs: [(String, String)],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try await Self.dump(queue)
    let report = try await Self.check(queue)
    let wanted = zip(rules, keysAndIDs).map { "\($0.rawValue) \(Keys.shard(of: $1.0)?.index ?? -1) \($1.0) \($1.1)" }
    #expect(Set(report.listed.map(Self.name)) == Set(wanted), sourceLocation: sourceLocation)
    #expect(report.faults == rules.count && !report.agrees, sourceLocation: sourceLocation)
    #expect(try await Self.dump(queue) == before, "a check writes nothing", sourceLocation: sourceLocation)
    let repaired = try await Self.check(queue, repairs: true)
    #expect(repaired.agrees == isRepairable, "\(repaired.text)", sourceLocation: sourceLocation)
    #expect(try await Self.check(queue).agrees == isRepairable, sourceLocation: sourceLocation)
  }

  /// All keys, with their values as DUMP returns them.
  static func dump(_ queue: DeliveryQueue) async throws -> [String: [UInt8]] {
    var all: [String: [UInt8]] = [:]
    for key in try await queue.send(["KEYS", "*"]).array ?? [] {
      all[key.string ?? ""] = try await queue.send(["DUMP", .string(key.string ?? "")]).bytes
    }
    return all
  }

  static func ready(_ id: DeliveryID) -> String { Keys.ready(.intake, id.shard) }

  static func line(_ queue: DeliveryQueue) -> String { queue.deduplication.line(request("first", order: "x", keepsOrder: true)) ?? "" }

  @Test func `The data of a queue is consistent, and all of it is read`() async throws {
    try await withQueue { queue, _ in
      _ = try await Self.fill(queue)
      let report = try await Self.check(queue)
      #expect(report.agrees && report.listed.isEmpty, "\(report.text)")
      #expect(report.shards == 256 && report.messages == 5 && report.events == 1 && report.keys > 256)
      #expect(report.text.hasSuffix("keys: everything agrees\n"))
      #expect(try JSONValue(parsing: report.json)["agrees"] == .bool(true))
    }
  }

  @Test func `An orphaned payload is reported and queued again`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      _ = try await queue.send(["ZREM", .string(Keys.delayed(.intake, ids.delayed.shard)), .string("\(ids.delayed)")])
      _ = try await queue.send(["ZREM", .string(Keys.byDeadline(.tokens, ids.token.shard)), .string("\(ids.token)")])
      try await expect(
        [.orphanedPayload, .orphanedPayload], queue, isRepairable: true,
        [
          (Keys.payloads(.intake, ids.delayed.shard), "\(ids.delayed)"), (Keys.payloads(.tokens, ids.token.shard), "\(ids.token)"),
        ])
      for (id, name) in [(ids.delayed, QueueName.intake), (ids.token, .tokens)] {
        let due = try await queue.send(["ZSCORE", .string(Keys.delayed(name, id.shard)), .string("\(id)")]).string.flatMap(Double.init)
        #expect(due.map { $0 <= Double(DeliveryQueue.now) } == true)
      }
    }
  }

  @Test func `A message without a payload is reported, and the messages behind it are processed`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      _ = try await queue.send(["HDEL", .string(Keys.payloads(.intake, ids.delayed.shard)), .string("\(ids.delayed)")])
      try await expect(
        [.missingPayload], queue, isRepairable: false, [(Keys.delayed(.intake, ids.delayed.shard), "\(ids.delayed)")])
      // The remaining fault is the lost delivery.
      let rest = try await Self.check(queue)
      #expect(rest.listed.map(\.rule) == [.recordWithoutMessage] && rest.listed[0].id == "\(ids.delayed)")
    }
  }

  @Test func `A message that waits outside its order line, or as its first, is reported and becomes due`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      let line = Keys.line(.intake, ids.first.shard, Self.line(queue))
      _ = try await queue.send(["LREM", .string(line), "1", .string("\(ids.second)")])
      try await expect([.waitsOutsideLine], queue, isRepairable: true, [(Keys.delayed(.intake, ids.second.shard), "\(ids.second)")])
      #expect(try await queue.send(["LRANGE", .string(line), "0", "-1"]).array?.compactMap(\.string) == ["\(ids.first)", "\(ids.second)"])
      // Deletes the first message, but leaves the second one waiting.
      _ = try await queue.send(["DEL", .string(Self.ready(ids.first))])
      _ = try await queue.send(["DEL", .string(Keys.delivery(ids.first))])
      _ = try await queue.send(["LPOP", .string(line)])
      let shared = ids.ready.shard == ids.first.shard
      guard !shared else { return }
      try await expect([.waitsAsFirst], queue, isRepairable: true, [(line, "\(ids.second)")])
    }
  }

  @Test func `An order line that a missing message blocks is reported and unblocked`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      guard ids.ready.shard != ids.first.shard else { return }
      let line = Keys.line(.intake, ids.first.shard, Self.line(queue))
      _ = try await queue.send(["XTRIM", .string(Self.ready(ids.first)), "MAXLEN", "0"])
      try await expect(
        [.lineOfNothing, .recordWithoutMessage], queue, isRepairable: false,
        [(line, "\(ids.first)"), (Keys.delivery(ids.first), "\(ids.first)")])
      #expect(try await queue.send(["XLEN", .string(Self.ready(ids.second))]).integer == 1)
      #expect(try await Self.check(queue).listed.map(\.rule) == [.recordWithoutMessage])
    }
  }

  @Test func `Inconsistent records and messages are reported`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      _ = try await queue.send(["DEL", .string(Keys.delivery(ids.ready))])
      _ = try await queue.send(["DEL", .string(Keys.delivery(ids.second))])
      let lost = try #require(DeliveryID("007-" + String(repeating: "a", count: 32)))
      let record = DeliveryRecord(id: lost, state: .accepted, queue: "intake", kind: "test", attempts: 0)
      _ = try await queue.send(["SET", .string(Keys.delivery(lost)), .bytes(record.json)])
      let spoiled = try #require(DeliveryID("009-" + String(repeating: "b", count: 32)))
      _ = try await queue.send(["SET", .string(Keys.delivery(spoiled)), "no record"])
      try await expect(
        [.messageWithoutRecord, .messageWithoutRecord, .recordWithoutMessage, .unreadableRecord], queue, isRepairable: false,
        [
          (Keys.delivery(ids.ready), "\(ids.ready)"), (Keys.delivery(ids.second), "\(ids.second)"), (Keys.delivery(lost), "\(lost)"),
          (Keys.delivery(spoiled), "\(spoiled)"),
        ])
      // Without a scan of the key names, only faults of messages that exist are found.
      #expect(try await Self.check(queue, walksKeys: false).faults == 2)
    }
  }

  @Test func `A message that waits longer than its record is stored is no fault`() async throws {
    try await withQueue { queue, _ in
      var options = StoreCheck.Options()
      options.recordTTL = .seconds(1)
      let ids = try await Self.fill(queue)
      _ = try await queue.send(["DEL", .string(Keys.delivery(ids.ready))])
      #expect(try await StoreCheck(redis: queue.redis, options: options).run().agrees)
    }
  }

  @Test func `Inconsistent events and index entries are reported and repaired, except for duplicate events`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      let (events, index) = (Keys.events(ids.done.shard), Keys.eventsIndex(ids.done.shard))
      _ = try await queue.send(["HDEL", .string(index), "e-done"])
      _ = try await queue.send(["HSET", .string(index), "gone", "1-1", "spoiled", "no entry"])
      try await expect(
        [.eventWithoutIndex, .indexWithoutEvent, .indexWithoutEvent], queue, isRepairable: true,
        [(events, "e-done"), (index, "gone"), (index, "spoiled")])
      #expect(try await EventFeed(deliveries: queue).event("e-done") != nil)
      _ = try await queue.send(["XADD", .string(events), "*", "i", "e-done", "t", "t.a", "e", "{}"])
      let entry = try #require(try await queue.send(["XADD", .string(events), "*", "z", "1"]).string)
      try await expect([.eventTwice, .unreadableEntry], queue, isRepairable: false, [(events, "e-done"), (events, entry)])
    }
  }

  @Test func `Left-over suspects, leases and ownerships are reported`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      let shard = ids.ready.shard
      _ = try await queue.send(["HSET", .string(Keys.suspects(.intake, shard)), "until", "5-5", "1-1", "2"])
      let tokens = Keys.ready(.tokens, ids.token.shard)
      let entry = try #require(try await queue.send(["XADD", .string(tokens), "1-1", "z", "1"]).string)
      _ = try await queue.send(["XGROUP", "CREATE", .string(tokens), .string(DeliveryQueue.group), "0"])
      _ = try await queue.send(["XREADGROUP", "GROUP", .string(DeliveryQueue.group), "dead", "STREAMS", .string(tokens), ">"])
      _ = try await queue.send(["XDEL", .string(tokens), .string(entry)])
      for (index, text) in ["7 -", "12 0f1e", "x y", "7", "7 "].enumerated() {
        _ = try await queue.send(["SET", .string(Keys.ownership(.gaps, Shard(index))), .string(text)])
      }
      try await expect(
        [.suspectOfNothing, .leaseOfNothing] + Array(repeating: .ownershipForm, count: 3), queue, isRepairable: false,
        [(Keys.suspects(.intake, shard), "1-1"), (tokens, "1-1")] + (2..<5).map { (Keys.ownership(.gaps, Shard($0)), "") })
      let rest = try await Self.check(queue)
      #expect(rest.faults == 3 && rest.count(.ownershipForm) == 3)
      #expect(try await queue.send(["HGET", .string(Keys.suspects(.intake, shard)), "until"]).string == "5-5")
    }
  }

  @Test func `Dead letters agree with their records`() async throws {
    try await withQueue { queue, _ in
      _ = try await queue.accept(request("dead"))
      let lease = try #require(try await queue.leaseAll("w").first)
      try await queue.deadLetter(lease, error: "no")
      #expect(try await Self.check(queue).agrees)
      var record = try #require(try await queue.delivery(lease.deliveryID))
      record.state = .verified
      _ = try await queue.send(["SET", .string(Keys.delivery(lease.deliveryID)), .bytes(record.json)])
      try await expect(
        [.letterOfAnother], queue, isRepairable: false, [(Keys.dead(.intake, lease.shard), "\(lease.deliveryID)")])
    }
  }

  @Test func `A shard with delayed messages that is missing in the schedule is reported and added`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      #expect(try await Self.check(queue).agrees)
      try await Task.sleep(for: .milliseconds(100))
      _ = try await queue.send(["DEL", .string(Keys.schedule(.intake))])
      let before = try await Self.check(queue)
      #expect(before.listed.map(\.rule) == [.scheduleMissing] && before.listed[0].shard == ids.delayed.shard, "\(before.text)")
      #expect(try await Self.check(queue, repairs: true).agrees)
      #expect(try await Self.check(queue).agrees)
      let due = try await queue.send(["ZSCORE", .string(Keys.schedule(.intake)), .integer(Int64(ids.delayed.shard.index))])
      #expect(due.string.flatMap(Double.init).map { $0 > Double(DeliveryQueue.now) } == true)
    }
  }

  @Test func `Keys of a wrong type and unknown keys are reported, and an unknown key is no fault`() async throws {
    try await withQueue { queue, _ in
      _ = try await Self.fill(queue)
      _ = try await queue.send(["SET", .string("{attr:004}:something"), "1"])
      _ = try await queue.send(["SET", "another program's", "1"])
      let notice = try await Self.check(queue)
      #expect(notice.agrees && notice.listed.map(\.key) == ["{attr:004}:something"] && notice.count(.unknownKey) == 1)
      let keys = [
        Keys.payloads(.gaps, Shard(9)), Keys.eventsIndex(Shard(10)), Keys.ownership(.gaps, Shard(11)), Keys.dead(.gaps, Shard(12)),
      ]
      for key in keys { _ = try await queue.send(["RPUSH", .string(key), "x"]) }
      let report = try await Self.check(queue)
      #expect(Set(report.listed.filter { $0.rule == .wrongType }.map(\.key)) == Set(keys) && report.faults == 4)
    }
  }

  @Test func `Unreadable data is reported by its position, without its content`() async throws {
    try await withQueue { queue, _ in
      let ids = try await Self.fill(queue)
      let entry = try #require(
        try await queue.send(["XADD", .string(Self.ready(ids.ready)), "*", "i", "\u{1B}[2Jsecret", "b", "secret body"]).string)
      _ = try await queue.send([
        "HSET", .string(Keys.payloads(.intake, ids.delayed.shard)), .string("\(ids.delayed)"), "secret payload",
      ])
      try await expect(
        [.unreadableEntry, .unreadablePayload], queue, isRepairable: false,
        [(Self.ready(ids.ready), entry), (Keys.payloads(.intake, ids.delayed.shard), "\(ids.delayed)")])
      let report = try await Self.check(queue)
      #expect(!report.text.contains("secret") && !String(decoding: report.json, as: UTF8.self).contains("secret"))
    }
  }

  @Test func `All faults are counted, even if only some are listed`() async throws {
    try await withQueue { queue, _ in
      for shard in Shard.all { _ = try await queue.send(["HSET", .string(Keys.eventsIndex(shard)), "gone", "1-1", "lost", "1-2"]) }
      let report = try await Self.check(queue, maxFaults: 7)
      #expect(report.listed.count == 7 && report.faults == 512 && report.count(.indexWithoutEvent) == 512)
      #expect(report.text.contains("… and 505 more\n"))
      let json = try JSONValue(parsing: report.json)
      #expect(json["left"] == .integer(505) && json["listed"]?.arrayValue?.count == 7)
      #expect(json["rules"]?["index_without_event"]?["found"] == .integer(512))
    }
  }

  @Test func `Data longer than a page is read completely`() async throws {
    try await withQueue { queue, _ in
      // All have one order key, so they are in one shard: one in the stream and the others in its order line.
      for index in 0..<700 { _ = try await queue.accept(request("n\(index)", order: "x", keepsOrder: true)) }
      for index in 0..<300 { _ = try await queue.accept(request("free\(index)", order: "x")) }
      let report = try await Self.check(queue)
      #expect(report.agrees && report.messages == 1000, "\(report.text)")
    }
  }
}
