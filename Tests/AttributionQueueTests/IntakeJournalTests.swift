import RedisClient
import Testing

@testable import AttributionQueue

@Suite("What is known of the intake")
struct IntakeJournalTests {
  @Test("while any instance says that it is alive there is no outage; the first after a silence of all records it once")
  func outages() async throws {
    let redis = try PrivateRedis()
    let client = try redis.client()
    let journal = IntakeJournal(redis: client)
    #expect(try await journal.beat("a", outageAfter: .milliseconds(200)) == nil, "the first beat ever ends no outage")
    for _ in 0..<6 {
      try await Task.sleep(for: .milliseconds(50))
      #expect(try await journal.beat("b", outageAfter: .seconds(30)) == nil)
    }
    let before = try await journal.outages()
    #expect(before.outages.isEmpty && before.lastBeat != nil)
    try await Task.sleep(for: .milliseconds(400))
    // Two come back together: one of them finds the outage.
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

  @Test("arrivals are counted by app and environment, and a silence that ends is recorded")
  func arrivals() async throws {
    let redis = try PrivateRedis()
    let client = try redis.client()
    let journal = IntakeJournal(redis: client)
    let empty = try await journal.arrivals(environment: "Production", bundleId: "a")
    #expect(empty.last == nil && empty.counts.isEmpty && empty.silences.isEmpty)
    try await journal.note(environment: "Production", bundleId: "a", count: 3, silenceAfter: .milliseconds(200))
    try await journal.note(environment: "Production", bundleId: "a", count: 4, silenceAfter: .seconds(60))
    try await journal.note(environment: "Sandbox", bundleId: "a", count: 5, silenceAfter: .seconds(60))
    let first = try await journal.arrivals(environment: "Production", bundleId: "a")
    #expect(first.counts.values.reduce(0, +) == 7 && first.silences.isEmpty)
    #expect(try await journal.arrivals(environment: "Sandbox", bundleId: "a").counts.values.reduce(0, +) == 5)
    try await Task.sleep(for: .milliseconds(400))
    try await journal.note(environment: "Production", bundleId: "a", count: 1, silenceAfter: .milliseconds(200))
    let later = try await journal.arrivals(environment: "Production", bundleId: "a")
    let silence = try #require(later.silences.first)
    #expect(later.silences.count == 1 && silence.start == first.last && silence.end == later.last)
    client.close()
  }

  @Test("old counts are forgotten when a new one begins")
  func forgotten() async throws {
    let redis = try PrivateRedis()
    let client = try redis.client()
    let journal = IntakeJournal(redis: client)
    let key = Keys.own("ingest", "arrivals:Production:a", shardOf: "a")
    let now = DeliveryQueue.now
    let old = (now - IntakeJournal.remembered) / IntakeJournal.bucket - 1
    let kept = (now - IntakeJournal.remembered) / IntakeJournal.bucket + 2
    try await client.send(["HSET", .string(key), .integer(old), 9, .integer(kept), 8])
    try await journal.note(environment: "Production", bundleId: "a", count: 1, silenceAfter: .seconds(60))
    let counts = try await journal.arrivals(environment: "Production", bundleId: "a").counts
    #expect(counts[old] == nil && counts[kept] == 8 && counts.count == 2)
    client.close()
  }
}
