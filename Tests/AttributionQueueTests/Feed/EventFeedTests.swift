import Foundation
import Testing

@testable import AttributionQueue

@Suite("Event feed")
struct EventFeedTests {
  /// Publishes events of one type, each by a delivery of its own.
  private func publish(_ ids: [String], type: String, _ queue: DeliveryQueue) async throws {
    let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
      let id = lease.message.attributes["natural"] ?? ""
      return .complete(
        Completion(state: .done, naturalKey: id, events: [EventRecord(id: id, type: type, json: Array(#"{"id":"\#(id)"}"#.utf8))]))
    }
    try await DeliveryQueueTests.working(queue, handler: handler) {
      var last: DeliveryID?
      for id in ids { last = try await queue.accept(.delivery(id)).id }
      for id in ids {
        let delivery = queue.deliveryID(for: .delivery(id))
        for _ in 0..<400 where try await queue.delivery(delivery)?.state != .done { try await Task.sleep(for: .milliseconds(10)) }
      }
      #expect(last != nil)
    }
  }

  @Test("creating the same subscription again has no effect; another with its name is refused; an unknown one is not found")
  func create() async throws {
    let redis = try RedisServer()
    let feed = EventFeed(deliveries: try await redis.queue())
    let made = try await feed.create(name: "s", types: ["b", "a"], start: .now)
    #expect(try await feed.create(name: "s", types: ["a", "b"], start: .now) == made)
    await #expect(throws: EventFeedError.differs) { try await feed.create(name: "s", types: ["a"], start: .now) }
    await #expect(throws: EventFeedError.differs) { try await feed.create(name: "s", types: ["a", "b"], start: .beginning) }
    await #expect(throws: EventFeedError.unknownSubscription) { try await feed.pull("t", limit: 1, wait: .zero, lease: .seconds(1)) }
    #expect(try await feed.delete("s"))
    #expect(try await feed.delete("s") == false)
  }

  @Test("an event that is not acknowledged within its lease is delivered again; an acknowledged one is not")
  func redelivery() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let feed = EventFeed(deliveries: queue)
    _ = try await feed.create(name: "s", types: [], start: .beginning)
    try await publish(["a", "b", "c"], type: "t", queue)
    let first = try await feed.pull("s", limit: 10, wait: .seconds(1), lease: .seconds(6))
    #expect(first.count == 3)
    #expect(try await feed.pull("s", limit: 10, wait: .zero, lease: .seconds(1)).isEmpty)
    #expect(try await feed.acknowledge("s", ackIds: [first[0].ackId, "nonsense", "999.1-1"]) == 1)
    #expect(try await feed.acknowledge("s", ackIds: [first[0].ackId]) == 0)
    #expect(try await feed.list().first?.backlog == 2)
    try await Task.sleep(for: .milliseconds(6300))
    let again = try await feed.pull("s", limit: 10, wait: .seconds(1), lease: .seconds(60))
    #expect(Set(again.map(\.id)) == Set(first.dropFirst().map(\.id)))
    #expect(try await feed.acknowledge("s", ackIds: again.map(\.ackId)) == 2)
    #expect(try await feed.list().first?.backlog == 0)
  }

  @Test("a subscription gets only its types, nothing older than its start, and never more than requested")
  func filters() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue()
    let feed = EventFeed(deliveries: queue)
    _ = try await feed.create(name: "all", types: [], start: .beginning)
    _ = try await feed.create(name: "wanted", types: ["t.wanted"], start: .beginning)
    try await publish((0..<20).map { "o\($0)" }, type: "t.other", queue)
    _ = try await feed.create(name: "late", types: [], start: .now)
    try await publish((0..<20).map { "w\($0)" }, type: "t.wanted", queue)
    let wanted = Set((0..<20).map { "w\($0)" })
    #expect(Set(try await feed.drain("wanted")) == wanted)
    #expect(Set(try await feed.drain("late")) == wanted)
    #expect(try await feed.pull("all", limit: 7, wait: .seconds(1), lease: .seconds(1)).count == 7)
    #expect(try await feed.pull("all", limit: 1000, wait: .seconds(1), lease: .seconds(60)).count == 33)
    #expect(try await feed.list().first { $0.name == "wanted" }?.backlog == 0)
  }

  @Test("events are deleted when every subscription has acknowledged them and their time has passed, not before")
  func trimming() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue { $0.acknowledgedEventTTL = .milliseconds(1) }
    let feed = EventFeed(deliveries: queue)
    _ = try await feed.create(name: "s", types: [], start: .beginning)
    try await publish(["a", "b"], type: "t", queue)
    #expect(try await feed.trim() == 0)
    #expect(try await feed.event("a") != nil)
    #expect(Set(try await feed.drain("s")) == ["a", "b"])
    try await Task.sleep(for: .milliseconds(20))
    #expect(try await feed.trim() == 0)
    #expect(try await feed.event("a") == nil)
    let strict = try await redis.queue { $0.eventRetention = .milliseconds(1) }
    let other = EventFeed(deliveries: strict)
    try await publish(["c"], type: "t", strict)
    try await Task.sleep(for: .milliseconds(20))
    #expect(try await other.trim() == 1, "the retention bites, and says how often")
    #expect(try await other.event("c") == nil)
  }
}
