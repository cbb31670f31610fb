import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// Which bodies of rejected deliveries are stored, and for how long.
@Suite struct RejectedBodiesTests {
  /// Accepts a delivery with a body of this size, and rejects it, as if `ago` milliseconds ago. Returns its id.
  @discardableResult
  static func reject(
    _ queue: DeliveryQueue, _ natural: String, kind: String = "test", reason: String = "x", environment: String = "", bytes: Int = 0,
    order: String = "one", ago: Int64 = 0
  ) async throws -> DeliveryID {
    var made = request(natural, order: order)
    made.message.kind = kind
    made.message.body += [UInt8](repeating: 32, count: bytes)
    let id = try await queue.accept(made).id
    for lease in try await queue.leaseAll("a") where lease.deliveryID == id {
      var completion = Completion(
        state: .rejected, events: [EventRecord(id: "rejected:\(id)", type: "t.r", json: [])], reason: reason)
      completion.keptBody = KeptBody(environment: environment)
      _ = try await queue.complete([(lease, completion)], now: [DeliveryQueue.now - ago])
    }
    return id
  }

  /// The names of those whose bodies are stored.
  private func kept(_ queue: DeliveryQueue, _ ids: [String: DeliveryID]) async throws -> Set<String> {
    var names: Set<String> = []
    for (name, id) in ids where try await queue.rejectedBody(id) != nil { names.insert(name) }
    return names
  }

  /// The memory that Redis needs for the bodies of a shard.
  static func memory(_ queue: DeliveryQueue, _ shard: Shard) async throws -> Int64 {
    var sum: Int64 = 0
    for key in [Keys.rejectedBodies(shard), Keys.rejectedIndex(shard), Keys.rejectedSizes(shard)] {
      sum += try await queue.send(["MEMORY", "USAGE", .string(key), "SAMPLES", "0"]).integer ?? 0
    }
    return sum
  }

  /// The bytes that the limit counts.
  static func counted(_ queue: DeliveryQueue, _ shard: Shard) async throws -> Int64 {
    try await queue.send(["HVALS", .string(Keys.rejectedSizes(shard))]).elements.compactMap(\.integer).reduce(0, +)
  }

  @Test func `The limit counts bytes, at its edge, and the oldest bodies are dropped`() async throws {
    var bytes: Int64 = 0
    try await withQueue { queue, _ in
      let id = try await Self.reject(queue, "a", bytes: 1000)
      bytes = try await Self.counted(queue, id.shard)
      #expect(bytes > 1000)
    }
    // Names of the same length, so that all bodies are of the same size.
    let cases: [(limit: Int64, expected: Set<String>)] = [
      (3 * bytes, ["b", "c", "d"]), (3 * bytes - 1, ["c", "d"]), (bytes, ["d"]), (bytes - 1, []),
    ]
    for (limit, expected) in cases {
      try await withQueue({ $0.rejectedBytes = Int(limit) * Shard.count }) { queue, _ in
        var ids: [String: DeliveryID] = [:]
        for name in ["a", "b", "c", "d"] { ids[name] = try await Self.reject(queue, name, bytes: 1000) }
        #expect(try await kept(queue, ids) == expected, "limit \(limit)")
        let shard = try #require(ids["a"]).shard
        #expect(try await Self.counted(queue, shard) == Int64(expected.count) * bytes)
        #expect(try await queue.send(["ZCARD", .string(Keys.rejectedIndex(shard))]).integer == Int64(expected.count))
      }
    }
  }

  @Test func `A limit of zero keeps no body`() async throws {
    try await withQueue({ $0.rejectedBytes = 0 }) { queue, _ in
      let id = try await Self.reject(queue, "a")
      #expect(try await queue.rejectedBody(id) == nil)
      #expect(try await queue.send(["EXISTS", .string(Keys.rejectedSizes(id.shard))]).integer == 0)
    }
  }

  @Test func `A class that cannot be read costs the body, not the settlement of its batch`() async throws {
    try await withQueue { queue, _ in
      let id = try await Self.reject(queue, "a", environment: "Pre Prod")
      #expect(try await queue.rejectedBody(id) == nil)
      #expect(try await queue.delivery(id)?.state == .rejected)
      let next = try await Self.reject(queue, "b")
      #expect(try await queue.rejectedBody(next) != nil)
    }
  }

  @Test func `A flood of one kind and reason drops the bodies of that class only`() async throws {
    let dropped = Mutex(0)
    try await withQueue({ $0.rejectedBytes = 20_000 * Shard.count }) { queue, _ in
      var ids: [String: DeliveryID] = [:]
      for name in ["signed", "second"] {
        ids[name] = try await Self.reject(queue, name, kind: "notification", reason: "malformed", environment: "Production", bytes: 2000)
      }
      ids["other reason"] = try await Self.reject(queue, "other", kind: "notification", reason: "wrong_app", environment: "Production")
      ids["other kind"] = try await Self.reject(queue, "kind", kind: "skadnetwork-postback", reason: "malformed")
      for number in 0..<60 {
        ids["flood"] = try await Self.reject(
          queue, "flood\(number)", kind: "notification", reason: "malformed", bytes: number % 7 * 500)
      }
      // The last body of the flood is larger than all that is left of its class.
      ids["large"] = try await Self.reject(queue, "large", kind: "notification", reason: "malformed", bytes: 19_000)
      let shard = try #require(ids["signed"]).shard
      #expect(try await kept(queue, ids) == ["signed", "second", "other reason", "other kind"])
      #expect(try await Self.counted(queue, shard) <= 20_000)
      // The observer gets the number of dropped bodies.
      let settlement = Settlement(queue: .intake, deliveries: queue) {
        if case .rejectedBodiesDropped(let count) = $0 { dropped.withLock { $0 += count } }
      }
      let id = try await queue.accept(request("observed", order: "one")).id
      for lease in try await queue.leaseAll("a") where lease.deliveryID == id {
        var completion = Completion(state: .rejected, events: [], reason: String(repeating: "r", count: 20_000))
        completion.keptBody = KeptBody()
        var batch = CommitBatch(.intake, id.shard, expectedCount: 1, queue)
        batch.complete(lease, completion, now: DeliveryQueue.now)
        _ = try await settlement.commitAnyBatch(batch, .consumer("a"))
      }
      #expect(dropped.withLock { $0 } == 1)
    }
  }

  @Test func `Redis needs about as much memory as the limit counts`() async throws {
    try await withQueue({ $0.rejectedBytes = 400_000 * Shard.count }) { queue, _ in
      var shard = Shard(0)
      for number in 0..<600 {
        shard = try await Self.reject(queue, "n\(number)", kind: "skadnetwork-postback", reason: "bad_signature", bytes: number % 5 * 300)
          .shard
      }
      let (memory, counted) = (try await Self.memory(queue, shard), try await Self.counted(queue, shard))
      #expect(memory < counted * 11 / 10 && memory > counted * 6 / 10, "\(memory) bytes, \(counted) counted")
    }
  }

  @Test func `A delivery that is rejected again has one body, at the time of the last rejection`() async throws {
    try await withQueue { queue, _ in
      let id = try await Self.reject(queue, "a", reason: "one")
      let bytes = try await Self.counted(queue, id.shard)
      // A copy that is accepted after the idempotency key has expired.
      _ = try await queue.send(["DEL"] + (try await queue.send(["KEYS", "*:seen:*"]).elements.compactMap(\.string).map { .string($0) }))
      try await Self.reject(queue, "a", reason: "two")
      #expect(try await Self.counted(queue, id.shard) == bytes)
      #expect(try await queue.rejected([id], id.shard).map(\.rejection.reason) == ["two"])
      #expect(try await queue.send(["HKEYS", .string(Keys.rejectedSizes(id.shard))]).elements.compactMap(\.string) == ["test two "])
    }
  }

  @Test func `Bodies expire with the feed's retention, and so does the record that is read from them`() async throws {
    try await withQueue({ $0.eventRetention = .seconds(3600) }) { queue, _ in
      let bytes = Mutex<[Int64]>([])
      let feed = EventFeed(deliveries: queue, observe: { if case .rejectedBodies(let sum) = $0 { bytes.withLock { $0.append(sum) } } })
      let id = try await Self.reject(queue, "a", reason: "why", order: "a", ago: 3_500_000)
      let other = try await Self.reject(queue, "b", reason: "another", order: "b", ago: 3_600_001)
      try #require(id.shard != other.shard)
      // Bodies that version 0.1 stored.
      _ = try await queue.send(["XADD", .string(Keys.formerRejected(id.shard)), "*", "i", "x", "b", "y"])
      _ = try await queue.send(["DEL", .string(Keys.delivery(id))])
      let record = try #require(try await queue.delivery(id))
      #expect(record.state == .rejected && record.reason == "why" && record.eventId == "rejected:\(id)" && record.kind == "test")
      #expect(record.acceptedAt != nil && record.completedAt != nil && record.queue == "intake")
      _ = try await feed.trim()
      #expect(try await queue.rejectedBody(id) == Array("a/".utf8))
      #expect(try await queue.send(["EXISTS", .string(Keys.formerRejected(id.shard))]).integer == 0)
      #expect(try await queue.rejectedBody(other) == nil)
      _ = try await queue.send(["DEL", .string(Keys.delivery(other))])
      #expect(try await queue.delivery(other) == nil)
      #expect(try await queue.send(["KEYS", .string("\(Keys.tag(other.shard)):rejected*")]).array?.isEmpty == true)
      let counted = try await Self.counted(queue, id.shard)
      #expect(bytes.withLock { $0 } == [counted] && counted > 400)
    }
  }
}
