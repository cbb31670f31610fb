import Testing

@testable import AttributionQueue

@Suite struct DeliveryRecordTests {
  private let id = DeliveryID(shard: Shard(17), digest: String(repeating: "a", count: 32))

  @Test func `A record can be read back, with any text`() {
    var record = DeliveryRecord(
      id: id, state: .rejected, queue: "intake", kind: "a \"kind\"", acceptedAt: 1_763_600_000_123, completedAt: 0, attempts: 3,
      eventId: "e:\u{2063}\n", reason: nil, lastError: "line\nline \\ \u{0}")
    #expect(DeliveryRecord(id, json: record.json) == record)
    record = DeliveryRecord(id: id, state: .accepted, queue: "tokens", kind: "", attempts: 0)
    #expect(DeliveryRecord(id, json: record.json) == record)
    // An empty text has no value.
    record.lastError = ""
    #expect(DeliveryRecord(id, json: record.json)?.lastError == nil)
  }

  @Test(arguments: ["", "null", "{}", #"{"s":"odd","q":"intake","k":"x"}"#, #"{"s":"done","k":"x"}"#, #"{"s":"done","q":"intake""#])
  func `Invalid records are refused`(_ text: String) {
    #expect(DeliveryRecord(id, json: Array(text.utf8)) == nil)
  }

  @Test func `A retried message keeps its last error on its record when it is finished`() async throws {
    try await withQueue { queue, _ in
      let id = try await queue.accept(request("a")).id
      for lease in try await queue.leaseAll("a") { try await queue.retry(lease, after: .zero, error: "not\nyet") }
      var record = try #require(try await queue.delivery(id))
      #expect(record.state == .accepted && record.attempts == 1 && record.lastError == "not yet")
      _ = try await DelayedPoller(queue: .intake, deliveries: queue, blocking: queue.redis).queryDue()
      for lease in try await queue.leaseAll("a") { try await queue.complete(lease, verified("a")) }
      record = try #require(try await queue.delivery(id))
      #expect(record.state == .verified && record.attempts == 2 && record.lastError == "not yet" && record.eventId == "e-a")
    }
  }
}
