import RedisClient
import TestSupport
import Testing

@testable import AttributionQueue

@Suite("The journal of the intake")
struct IntakeJournalTests {
  @Test("while any instance sends heartbeats there is no outage; the first heartbeat after a pause of all records one")
  func outages() async throws {
    let redis = try RedisServer()
    let client = try await redis.client()
    let journal = IntakeJournal(redis: client)
    #expect(try await journal.beat("a", outageAfter: .milliseconds(200)) == nil, "the first beat ever ends no outage")
    for _ in 0..<6 {
      try await Task.sleep(for: .milliseconds(50))
      #expect(try await journal.beat("b", outageAfter: .seconds(30)) == nil)
    }
    let before = try await journal.outages()
    #expect(before.outages.isEmpty && before.lastBeat != nil)
    try await Task.sleep(for: .milliseconds(400))
    // Two instances return at the same time, and one of them records the outage.
    async let one = journal.beat("a", outageAfter: .milliseconds(200))
    async let two = journal.beat("c", outageAfter: .milliseconds(200))
    let found = try await [one, two].compactMap { $0 }
    #expect(found.count == 1)
    let after = try await journal.outages()
    #expect(after.outages == found)
    let outage = try #require(found.first)
    #expect(outage.start == before.lastBeat && outage.end - outage.start >= 400)
    client.close()
  }

  /// Counts arrivals at these times.
  private func note(_ journal: IntakeJournal, _ times: [Int64], environment: String = "Production", silence: Int64 = 1000) async throws {
    try await journal.note(
      environment: environment, bundleId: "a", times.map { IntakeJournal.Group(count: 1, first: $0, last: $0) },
      silenceAfter: .milliseconds(silence))
  }

  @Test("arrivals are counted by app, environment and the time of their receipt, and a silence between them is recorded")
  func arrivals() async throws {
    let redis = try RedisServer()
    let client = try await redis.client()
    let journal = IntakeJournal(redis: client)
    let empty = try await journal.arrivals(environment: "Production", bundleId: "a")
    #expect(empty.last == nil && empty.counts.isEmpty && empty.silences.isEmpty)
    let base = DeliveryQueue.now - 3_600_000
    try await journal.note(
      environment: "Production", bundleId: "a",
      [.init(count: 3, first: base, last: base + 900), .init(count: 4, first: base + 1000, last: base + 1000)], silenceAfter: .seconds(1))
    try await note(journal, [base], environment: "Sandbox")
    let first = try await journal.arrivals(environment: "Production", bundleId: "a")
    #expect(first.counts.values.reduce(0, +) == 7 && first.silences.isEmpty && first.last == base + 1000)
    #expect(first.counts[(base + 1000) / IntakeJournal.bucketLength] != nil)
    #expect(try await journal.arrivals(environment: "Sandbox", bundleId: "a").counts.values.reduce(0, +) == 1)
    try await note(journal, [base + 2000, base + 4000])
    let later = try await journal.arrivals(environment: "Production", bundleId: "a")
    #expect(later.silences == [.init(start: base + 2000, end: base + 4000)] && later.last == base + 4000)
    client.close()
  }

  @Test("a late verification splits the silence of its time of receipt, in any order")
  func late() async throws {
    let redis = try RedisServer()
    let client = try await redis.client()
    let journal = IntakeJournal(redis: client)
    let base = DeliveryQueue.now - 3_600_000
    try await note(journal, [base, base + 10_000])
    #expect(try await journal.arrivals(environment: "Production", bundleId: "a").silences == [.init(start: base, end: base + 10_000)])
    try await note(journal, [base + 500])
    try await note(journal, [base + 7000])
    let found = try await journal.arrivals(environment: "Production", bundleId: "a")
    #expect(found.silences == [.init(start: base + 500, end: base + 7000), .init(start: base + 7000, end: base + 10_000)])
    #expect(found.last == base + 10_000)

    // The result is the same in any order, even if each time is stored separately.
    var random = SeededRandom("arrivals in any order")
    for round in 0..<20 {
      let times = (0..<12).map { _ in base + Int64.random(in: 0...20_000, using: &random) }
      func known(_ app: String, _ times: [Int64]) async throws -> IntakeJournal.Arrivals {
        for time in times {
          try await journal.note(
            environment: "Production", bundleId: app, [.init(count: 1, first: time, last: time)], silenceAfter: .seconds(1))
        }
        return try await journal.arrivals(environment: "Production", bundleId: app)
      }
      let ordered = try await known("ordered \(round)", times.sorted())
      let shuffled = times.shuffled(using: &random)
      let mixed = try await known("mixed \(round)", shuffled)
      #expect(mixed.last == ordered.last && mixed.counts == ordered.counts)
      // Times before the first count are not known to be silent.
      #expect(mixed.silences == ordered.silences.filter { $0.start >= shuffled[0] })
    }
    client.close()
  }

  @Test("a time of receipt in the future counts as now")
  func ahead() async throws {
    let redis = try RedisServer()
    let client = try await redis.client()
    let journal = IntakeJournal(redis: client)
    try await note(journal, [DeliveryQueue.now + 86_400_000])
    let found = try await journal.arrivals(environment: "Production", bundleId: "a")
    #expect(found.last.map { $0 <= found.now } == true)
    client.close()
  }

  @Test("old counts are deleted when a new bucket begins, and counts of unverified notifications are not read")
  func forgotten() async throws {
    let redis = try RedisServer()
    let client = try await redis.client()
    let journal = IntakeJournal(redis: client)
    let key = Keys.own("ingest", "arrivals:Production:a", shardOf: "a")
    let now = DeliveryQueue.now
    let old = (now - IntakeJournal.retention) / IntakeJournal.bucketLength - 1
    let kept = (now - IntakeJournal.retention) / IntakeJournal.bucketLength + 2
    try await client.send([
      "HSET", .string(key), .integer(old), 9, .integer(kept), 8, .string("p\(old)"), 7, .string("p\(kept)"), 6,
    ])
    try await note(journal, [now])
    let counts = try await journal.arrivals(environment: "Production", bundleId: "a").counts
    #expect(counts[old] == nil && counts[kept] == 6 && counts.count == 2)
    let fields = try await client.send(["HKEYS", .string(key)]).array?.compactMap(\.string) ?? []
    #expect(Set(fields) == ["\(kept)", "p\(kept)", "p\(now / IntakeJournal.bucketLength)"])
    client.close()
  }

  @Test("the intake is processed up to the oldest waiting message")
  func handledUpTo() async throws {
    try await withQueue { queue, _ in
      let journal = IntakeJournal(redis: queue.redis)
      let before = try await journal.handledUpTo()
      #expect(abs(before - DeliveryQueue.now) < 60_000)
      for name in ["first", "second", "third"] { _ = try await queue.accept(request(name)) }
      let waiting = try await journal.handledUpTo()
      #expect(waiting >= before)
      try await Task.sleep(for: .milliseconds(50))
      #expect(try await journal.handledUpTo() == waiting)
      // A delayed message was verified once.
      let later = try await queue.accept(request("later", notBefore: DeliveryQueue.now + 600_000)).id
      let done: @Sendable (LeasedMessage) async -> WorkOutcome = { .complete(verified($0.message.attributes["natural"] ?? "")) }
      try await queue.working(handler: done) {
        try await eventually("all is worked off") { try await journal.handledUpTo() > waiting }
      }
      #expect(try await queue.delivery(later)?.state == .accepted)
    }
  }
}
