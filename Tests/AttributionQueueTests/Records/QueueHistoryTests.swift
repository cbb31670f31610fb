import Testing

@testable import AttributionQueue

@Suite struct QueueHistoryTests {
  @Test func `Of all processes, one stores the snapshot of a minute`() async throws {
    try await withQueue { queue, _ in
      let (one, other) = (QueueHistory(deliveries: queue), QueueHistory(deliveries: queue))
      let now = DeliveryQueue.now
      // The minute may change during the test.
      try await one.recordSnapshot(at: now - 60_000)
      #expect(try await one.moments(last: 3).map(\.queues.count) == [QueueName.allCases.count])
      _ = try await queue.accept(request("a"))
      try await other.recordSnapshot(at: now - 60_000)
      #expect(try await one.moments(last: 3).first?.queues.first == QueueSnapshot(queue: .intake))
      try await other.recordSnapshot(at: now)
      let moments = try await one.moments(last: 3)
      #expect(moments.map(\.start) == [(now / 60_000 - 1) * 60_000, now / 60_000 * 60_000])
      #expect(moments.last?.queues.first { $0.queue == .intake }?.depth == 1)
      #expect(moments.last?.queues.first { $0.queue == .intake }?.oldestAgeSeconds != nil)
      // Older snapshots are not returned, and they expire.
      try await one.recordSnapshot(at: now - 3_600_000)
      #expect(try await one.moments(last: 3).count == 2)
      #expect(try await one.moments(last: 100).count == 3)
      for key in try await queue.send(["KEYS", "*counts:queues*"]).array?.compactMap(\.string) ?? [] {
        #expect(try await queue.send(["TTL", .string(key)]).integer ?? -1 > 86_400, "\(key)")
        #expect(Keys.shard(of: key) != nil && KeyKind(key) == .other, "\(key)")
      }
    }
  }

  @Test(arguments: [
    QueueSnapshot(queue: .intake),
    QueueSnapshot(queue: .gaps, depth: 1, inFlight: 2, delayed: 3, dead: 4, oldestAgeSeconds: 5.25, paused: true),
  ])
  func `A stored snapshot can be read back`(snapshot: QueueSnapshot) {
    #expect(QueueHistory.snapshot(QueueHistory.line(snapshot)) == snapshot)
  }

  @Test(arguments: ["", "intake", "nothing 1 2 3 4 - -", "intake 1 2 3 x - -", "intake 1 2 3 4 - - -"])
  func `Invalid lines are skipped`(line: String) { #expect(QueueHistory.snapshot(line) == nil) }
}
