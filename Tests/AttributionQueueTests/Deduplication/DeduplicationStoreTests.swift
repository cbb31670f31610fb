import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct DeduplicationStoreTests {
  private func brief(_ natural: String, copy: String = "", keepsOrder: Bool = false) -> AcceptRequest {
    var request = request(natural, copy: copy, order: natural, keepsOrder: keepsOrder)
    request.isKnownBriefly = true
    return request
  }

  /// Deletes the keys with a short lifetime, as their expiry does.
  private func forgetCopies(_ queue: DeliveryQueue) async throws {
    for key in try await queue.send(["KEYS", "*:seen:c:*"]).array ?? [] { try await queue.redis.send(["DEL", .string(key.string ?? "")]) }
  }

  private func members(_ queue: DeliveryQueue, _ scope: DeduplicationScope) async throws -> Int64 {
    var count: Int64 = 0
    for key in try await queue.send(["KEYS", .string("*:seen:\(scope.rawValue):*")]).array ?? [] {
      count += try await queue.send(["SCARD", .string(key.string ?? "")]).integer ?? 0
    }
    return count
  }

  /// Settles all waiting messages as verified, and repeats as verifier does.
  private func work(_ queue: DeliveryQueue) async throws {
    try await queue.working(handler: { lease in
      var completion = verified(lease.message.attributes["natural"] ?? "")
      completion.whenClaimedBefore = {
        .complete(Completion(state: .verified, events: [], reason: "duplicate", recordedEventId: "e-counted"))
      }
      return .complete(completion)
    }) {
      try await eventually("all is worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
    }
  }

  @Test(arguments: [DeduplicationScope.delivery, .notification, .copy, .detail])
  func `A key counts from the first to the last moment of its generation and of the next one, and not longer`(_ scope: DeduplicationScope) {
    var configuration = QueueConfiguration()
    configuration.copyGeneration = .seconds(90)
    let deduplication = DeduplicationStore(digestKey: [1], configuration: configuration)
    let length = configuration.generation(of: scope).milliseconds
    func claim(_ now: Int64) -> DeduplicationStore.Claim { deduplication.claim("key", scope: scope, shard: Shard(7), now: now) }
    for start in [5 * length, 6 * length - 1] {
      let own = claim(start).buckets[0]
      let counts = [5 * length, 6 * length - 1, 6 * length, 7 * length - 1].map { claim($0).buckets.prefix(2).contains(own) }
      #expect(counts == [true, true, true, true])
      #expect(!claim(7 * length).buckets.contains(own))
      // An instance whose clock is behind finds the key in the next generation.
      #expect(claim(5 * length - 1).buckets[2] == own)
      // The keys of the bucket exist until the last moment at which they count.
      #expect(claim(start).expirySeconds * 1000 >= 2 * length)
    }
  }

  @Test(arguments: [(apart: 0, beyond: 3600), (3600, 3600), (3601, 3601), (86_400, 86_400)])
  func `A bucket exists longer than its keys count by the difference that clocks may have, at least an hour`(apart: Int64, beyond: Int64) {
    var configuration = QueueConfiguration()
    configuration.clockDifference = .seconds(apart)
    let deduplication = DeduplicationStore(digestKey: [1], configuration: configuration)
    for scope in DeduplicationScope.allCases {
      let claim = deduplication.claim("key", scope: scope, shard: Shard(7), now: DeliveryQueue.now)
      #expect(claim.expirySeconds == 2 * configuration.generation(of: scope).milliseconds / 1000 + beyond)
    }
  }

  @Test func `Each scope has its own names, generations and buckets`() {
    var configuration = QueueConfiguration()
    let deduplication = DeduplicationStore(digestKey: [1], configuration: configuration)
    let names = DeduplicationScope.allCases.map {
      deduplication.claim("key", scope: $0, shard: Shard(7), now: DeliveryQueue.now).buckets[0]
    }
    #expect(Set(names).count == DeduplicationScope.allCases.count)
    #expect(Set(DeduplicationScope.allCases.map(\.index)) == Set(DeduplicationScope.allCases.indices))
    // The lifetime is a fortieth, and the buckets are half as full.
    #expect(DeduplicationScope.allCases.map { configuration.buckets(of: $0) } == [256, 256, 13, 256])
    configuration.seenBuckets = 1
    #expect(configuration.buckets(of: .copy) == 1)
    (configuration.seenBuckets, configuration.copyGeneration) = (1 << 24, configuration.deliveryGeneration * 366)
    #expect(configuration.buckets(of: .copy) == 1 << 24)
  }

  @Test func `Without the secret digest key nobody can aim at a bucket`() {
    let keys: [[UInt8]] = [[1], [2]]
    let stores = keys.map { DeduplicationStore(digestKey: $0, configuration: QueueConfiguration()) }
    let claims = (0..<100).map { number in
      stores.map { $0.claim("key \(number)", scope: .delivery, shard: Shard(7), now: DeliveryQueue.now) }
    }
    // Some of 100 keys have the same of 256 buckets by chance.
    #expect(claims.count { $0[0].buckets[0] == $0[1].buckets[0] } < 10)
    #expect(claims.allSatisfy { $0[0].member != $0[1].member })
    let shards = (0..<100).map { number in stores.map { $0.digest("key \(number)")[0] } }
    #expect(shards.count { $0[0] == $0[1] } < 10)
  }

  @Test func `The backoff doubles up to its limit, with full jitter`() {
    var configuration = QueueConfiguration()
    configuration.backoffBase = .milliseconds(500)
    configuration.backoffCap = .seconds(600)
    var before = Duration.zero
    for attempt in 1...25 {
      let limit = min(Duration.seconds(600), Duration.milliseconds(500) * (1 << min(attempt, 20)))
      let waits = (0..<1000).map { _ in configuration.backoff(of: .intake).wait(after: attempt) }
      #expect(waits.allSatisfy { $0 >= .zero && $0 <= limit }, "attempt \(attempt)")
      #expect((waits.min() ?? limit) < limit * 0.05 && (waits.max() ?? .zero) > limit * 0.95, "attempt \(attempt)")
      #expect(limit >= before)
      before = limit
    }
    #expect(before == .seconds(600))
  }

  @Test(arguments: [
    (apart: 3600, before: 3_600_000, isChecked: true), (3600, 3_600_001, false), (3600, 1, true), (0, 1, false),
    (21_601, 21_600_000, true),
  ])
  func `Before the end of a generation, the next one is checked too, because another clock may be ahead`(
    apart: Int, before: Int64, isChecked: Bool
  ) {
    var configuration = QueueConfiguration()
    configuration.clockDifference = .seconds(apart)
    let now = 7 * configuration.copyGeneration.milliseconds - before
    let generations = DeduplicationStore(digestKey: [1], configuration: configuration).generations(.copy, shard: Shard(7), now: now)
    #expect(generations.mayBeOver(now: now) == isChecked)
  }

  @Test func `A copy is known in its generation and the next, and accepted again afterwards`() async throws {
    try await withQueue {
      $0.clockDifference = $0.copyGeneration
    } _: { queue, _ in
      let length = queue.configuration.copyGeneration.milliseconds
      let delivery = brief("a")
      let id = queue.deliveryID(for: delivery)
      for (ago, isKnown) in [(-1, true), (0, true), (1, true), (2, false)] as [(Int64, Bool)] {
        let claim = queue.deduplication.claim(delivery.idempotencyKey, scope: .copy, shard: id.shard, now: DeliveryQueue.now - ago * length)
        try await queue.redis.send(["SADD", .string(claim.buckets[0]), .integer(claim.member)])
        #expect(try await queue.accept(delivery).isDuplicate == isKnown)
        try await forgetCopies(queue)
      }
    }
  }

  @Test func `Keys with a short lifetime have their own buckets, which expire`() async throws {
    try await withQueue { queue, _ in
      for number in 0..<3 { _ = try await queue.accept(brief("a\(number)")) }
      #expect(try await members(queue, .copy) == 3)
      #expect(try await members(queue, .delivery) == 0)
      let bucket = try #require(try await queue.send(["KEYS", "*:seen:c:*"]).array?.first?.string)
      let seconds = 2 * queue.configuration.copyGeneration.wholeSeconds + 3600
      #expect((seconds - 60...seconds).contains(try await queue.send(["TTL", .string(bucket)]).integer ?? -1))
      // A message that keeps its order must not be accepted twice while it waits, so its key has the long lifetime.
      #expect(try await queue.accept(brief("line", keepsOrder: true)).isDuplicate == false)
      #expect(try await members(queue, .copy) == 3)
      #expect(try await members(queue, .delivery) == 1)
    }
  }

  @Test func `The same bytes after their key expired are one event, and the record shows a duplicate`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(brief("counted")).id
      #expect(try await queue.accept(brief("counted")) == .duplicate(id))
      try await work(queue)
      #expect(try await queue.delivery(id)?.reason == nil)
      try await forgetCopies(queue)
      #expect(try await queue.accept(brief("counted")) == .accepted(id))
      #expect(try await queue.delivery(id)?.state == .accepted)
      try await work(queue)
      #expect(try await queue.allEvents() == ["e-counted"])
      let record = try #require(try await queue.delivery(id))
      #expect(record.state == .verified && record.reason == "duplicate" && record.eventId == "e-counted")
    }
  }

  @Test func `Two messages with one id are both settled, delayed or not, and count once`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(brief("counted")).id
      try await forgetCopies(queue)
      #expect(try await queue.accept(brief("counted")) == .accepted(id))
      try await queue.working(handler: { lease in
        // Both are delayed first. They have one id, so they become one message.
        if lease.attempt == 1 { return .retry(after: .milliseconds(5), error: "not yet") }
        return .complete(verified("counted"))
      }) {
        try await eventually("all is worked") {
          let now = try await QueueAdministration(deliveries: queue).snapshot(.intake)
          return try await queue.allEvents().count == 1 && now.depth + now.delayed == 0
        }
      }
      #expect(try await queue.allEvents() == ["e-counted"])
      #expect(try await queue.send(["HLEN", .string(Keys.payloads(.intake, id.shard))]).integer == 0)
      #expect(try await queue.delivery(id)?.state == .verified)
    }
  }

  @Test func `A rejected delivery is one event while the feed stores it, and has the same id afterwards`() async throws {
    try await withQueue { queue, _ in
      let forged = brief("forged")
      let id = try await queue.accept(forged).id
      func reject() async throws {
        try await queue.working(handler: { lease in
          .complete(
            Completion(
              state: .rejected, events: [EventRecord(id: "rejected:\(lease.deliveryID)", type: "t.r", json: Array("{}".utf8))], reason: "x")
          )
        }) { try await eventually("it is settled") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 } }
      }
      try await reject()
      try await forgetCopies(queue)
      #expect(try await queue.accept(forged) == .accepted(id))
      try await reject()
      #expect(try await queue.allEvents() == ["rejected:\(id)"])
      try await queue.redis.send(["DEL", .string(Keys.events(id.shard)), .string(Keys.eventsIndex(id.shard))])
      try await forgetCopies(queue)
      #expect(try await queue.accept(forged) == .accepted(id))
      try await reject()
      #expect(try await queue.allEvents() == ["rejected:\(id)"])
    }
  }

  @Test(arguments: [true, false])
  func `A delivery that may be processed again is accepted again immediately`(_ isKnownBriefly: Bool) async throws {
    try await withQueue { queue, _ in
      var delivery = request("a")
      delivery.isKnownBriefly = isKnownBriefly
      for _ in 0..<2 {
        #expect(try await queue.accept(delivery).isDuplicate == false)
        #expect(try await queue.accept(delivery).isDuplicate)
        try await queue.working(handler: { _ in
          var completion = Completion(state: .rejected, events: [], reason: "unknown_key")
          completion.mayBeAcceptedAgain = true
          return .complete(completion)
        }) { try await eventually("it is settled") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 } }
      }
    }
  }
}
