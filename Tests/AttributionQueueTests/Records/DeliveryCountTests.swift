import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct DeliveryCountTests {
  @Test(arguments: [
    CountedValue.fine(app: 525_463_029, 63), .coarse(app: 1, "high"), .noConversion(app: 7), .source(adNetworkId: "a.skadnetwork", "07"),
    .source(adNetworkId: "a|b", "5239"), .notification(bundleId: "com.example.app", type: "DID_RENEW"), .other,
  ])
  func `A counter can be read back`(value: CountedValue) { #expect(CountedValue(field: value.field) == value) }

  @Test(arguments: ["", "f", "f|", "f|x|1", "f|1", "z|1|2", "d|a|b", "|||", "f||1"])
  func `Invalid counters are skipped`(field: String) {
    #expect(CountedValue(field: field) == nil && CountedOutcome(field: field) == nil)
  }

  @Test func `The counts of two processes are added by minute and hour`() async throws {
    try await withQueue { queue, _ in
      let now = DeliveryQueue.now
      let counters = [0, 1].map { _ in DeliveryCounter(redis: queue.redis, logger: quietLogger) }
      let verified = CountedOutcome(kind: "notification", verdict: "verified")
      let rejected = CountedOutcome(kind: "skadnetwork-postback", verdict: "rejected", reason: "bad_signature")
      for counter in counters {
        for _ in 0..<3 { counter.add([(verified, 1)], [.notification(bundleId: "a", type: "TEST")], at: now) }
        await counter.write()
        counter.add([(rejected, 1)], [], at: now - 60_000)
        await counter.write()
        // A repeated write counts once.
        counter.add([(rejected, 1)], [], at: now)
        await counter.write()
      }
      let counts = DeliveryCounts(redis: queue.redis)
      let minutes = try await counts.outcomes(.minute, last: 3)
      #expect(minutes.count == 3 && minutes.map(\.start) == minutes.map(\.start).sorted())
      // The minute may have changed meanwhile.
      #expect(minutes.reduce(0) { $0 + ($1.outcomes[verified] ?? 0) } == 6)
      #expect(minutes.reduce(0) { $0 + ($1.outcomes[rejected] ?? 0) } == 4)
      #expect(try await counts.outcomes(.hour, last: 2).reduce(0) { $0 + ($1.outcomes[verified] ?? 0) } == 6)
      #expect(try await counts.values(lastHours: 2) == [.notification(bundleId: "a", type: "TEST"): 6])
      // Each hash expires, and its key names its shard.
      for key in try await queue.send(["KEYS", "*counts*"]).array?.compactMap(\.string) ?? [] {
        #expect(try await queue.send(["TTL", .string(key)]).integer ?? -1 > 86_400, "\(key)")
        #expect(Keys.shard(of: key) != nil && KeyKind(key) == .other, "\(key)")
      }
    }
  }

  @Test func `Values beyond the limit are counted together`() async throws {
    try await withQueue { queue, _ in
      let counter = DeliveryCounter(redis: queue.redis, logger: quietLogger)
      let (end, now) = (CountedOutcome(kind: "k", verdict: "verified"), DeliveryQueue.now)
      for app in 0..<Int64(DeliveryCounter.maxValues + 5) { counter.add([(end, 1)], [.noConversion(app: app)], at: now) }
      // A known value is still counted separately.
      counter.add([(end, 1)], [.noConversion(app: 0)], at: now)
      await counter.write()
      let values = try await DeliveryCounts(redis: queue.redis).values(lastHours: 2)
      #expect(values.count == DeliveryCounter.maxValues + 1 && values[.other] == 5 && values[.noConversion(app: 0)] == 2)
    }
  }

  @Test func `Counts that cannot be written are written later`() async throws {
    try await withQueue { queue, server in
      let counter = DeliveryCounter(redis: queue.redis, logger: quietLogger)
      let end = CountedOutcome(kind: "k", verdict: "verified")
      counter.add([(end, 1)], [], at: DeliveryQueue.now)
      // Redis has no free memory and refuses the write.
      try await queue.redis.send(["CONFIG", "SET", "maxmemory", "1"])
      await counter.write()
      try await queue.redis.send(["CONFIG", "SET", "maxmemory", "0"])
      await counter.write()
      #expect(try await DeliveryCounts(redis: queue.redis).outcomes(.hour, last: 2).reduce(0) { $0 + ($1.outcomes[end] ?? 0) } == 1)
    }
  }

  @Test func `Deliveries of one batch are counted by their outcomes, in whatever order these come`() async throws {
    try await withQueue { queue, _ in
      let counter = DeliveryCounter(redis: queue.redis, logger: quietLogger)
      for number in 0..<20 { _ = try await queue.accept(request("m\(number)", order: "one")) }
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing, counter: counter) { lease in
        let name = lease.message.attributes["natural"] ?? ""
        // verified, verified, rejected, verified, rejected, …
        guard let number = Int(name.dropFirst()), number > 1, number % 2 == 0 else { return .complete(verified(name)) }
        return .complete(Completion(state: .rejected, events: [], reason: number < 10 ? "malformed" : "bad_signature"))
      }
      let run = Task { await worker.run() }
      try await eventually("all have ended") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      worker.stop()
      await run.value
      await counter.write()
      var ends: [String: Int64] = [:]
      for period in try await DeliveryCounts(redis: queue.redis).outcomes(.hour, last: 2) {
        for (end, count) in period.outcomes { ends["\(end.verdict) \(end.reason ?? "-")", default: 0] += count }
      }
      #expect(ends == ["verified -": 11, "rejected malformed": 4, "rejected bad_signature": 5])
    }
  }

  @Test func `A delivery is counted once with its outcome, and values of repeats are not counted`() async throws {
    try await withQueue { queue, _ in
      let counter = DeliveryCounter(redis: queue.redis, logger: quietLogger)
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing, counter: counter) { lease in
        switch lease.message.attributes["natural"] {
        case "dead": return .deadLetter(error: "x")
        case "rejected":
          return .complete(Completion(state: .rejected, events: [], reason: "malformed"))
        case let natural?:
          if lease.attempt == 1, lease.message.body.suffix(5) == Array("again".utf8) { return .retry(after: .zero, error: "not yet") }
          var completion = verified(natural)
          completion.countedValues = [.fine(app: 1, 5)]
          return .complete(completion)
        case nil: return .deadLetter(error: "y")
        }
      }
      let run = Task { await worker.run() }
      for name in ["one", "rejected", "dead"] { _ = try await queue.accept(request(name)) }
      _ = try await queue.accept(request("one", copy: "again"))
      try await eventually("all have ended") {
        await counter.write()
        let ends = try await DeliveryCounts(redis: queue.redis).outcomes(.hour, last: 2)
        return ends.reduce(0) { $0 + $1.outcomes.values.reduce(0, +) } == 4
      }
      worker.stop()
      await run.value
      var ends: [String: Int64] = [:]
      for period in try await DeliveryCounts(redis: queue.redis).outcomes(.hour, last: 2) {
        for (end, count) in period.outcomes { ends["\(end.verdict) \(end.reason ?? "-")", default: 0] += count }
      }
      #expect(ends == ["verified -": 1, "duplicate -": 1, "rejected malformed": 1, "dead -": 1])
      #expect(try await DeliveryCounts(redis: queue.redis).values(lastHours: 2) == [.fine(app: 1, 5): 1])
    }
  }
}
