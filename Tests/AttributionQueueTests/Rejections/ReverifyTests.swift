import RedisClient
import Synchronization
import TestSupport
import Testing

@testable import AttributionQueue

/// Rejected deliveries that are judged again.
@Suite struct ReverifyTests {
  /// A handler that rejects each delivery, unless its natural key is known.
  private final class Handler: Sendable {
    private let state = Mutex<(known: Set<String>, reason: String, seen: [QueueMessage])>(([], "unknown", []))

    func learn(_ naturals: String...) { state.withLock { $0.known.formUnion(naturals) } }
    func set(reason: String) { state.withLock { $0.reason = reason } }
    var seen: [QueueMessage] { state.withLock { $0.seen } }

    func handle(_ lease: LeasedMessage) -> WorkOutcome {
      let natural = lease.message.attributes["natural"] ?? ""
      let (isKnown, reason) = state.withLock { state in
        state.seen.append(lease.message)
        return (state.known.contains(natural), state.reason)
      }
      if isKnown { return .inOrder { .complete(verified(natural)) } }
      return .complete(Self.rejected(lease, reason))
    }

    /// As verifier's worker does it: the same reason publishes nothing, another one has its own id.
    static func rejected(_ lease: LeasedMessage, _ reason: String) -> Completion {
      var completion = Completion(state: .rejected, events: [], reason: reason)
      completion.keptBody = KeptBody()
      if let earlier = lease.message.earlierRejection, earlier.reason == reason {
        completion.recordedEventId = earlier.eventId
      } else {
        let id = "rejected:\(lease.deliveryID)" + (lease.message.earlierRejection == nil ? "" : ":2")
        completion.events = [EventRecord(id: id, type: "t.r", json: [])]
      }
      return completion
    }
  }

  private func ended(_ queue: DeliveryQueue, _ id: DeliveryID) async throws -> DeliveryRecord {
    try await eventually("\(id) is settled") { try await queue.delivery(id).map { $0.state != .accepted } ?? false }
    return try #require(try await queue.delivery(id))
  }

  @Test func `A rejected delivery is queued again once, whole, and its record names the rejection`() async throws {
    try await withQueue { queue, _ in
      let handler = Handler()
      try await queue.working(handler: { handler.handle($0) }) {
        let id = try await queue.accept(request("a")).id
        #expect(try await ended(queue, id).reason == "unknown")
        let first = try #require(handler.seen.first)
        handler.learn("a")
        #expect(try await queue.reverify([id]) == [Reverification(id: id, state: .queued, eventId: "rejected:\(id)")])
        let record = try await ended(queue, id)
        #expect(record.state == .verified && record.eventId == "e-a" && record.acceptedAt == first.receivedAt)
        #expect(record.earlierRejection?.eventId == "rejected:\(id)" && record.earlierRejection?.reason == "unknown")
        var again = try #require(handler.seen.last)
        #expect(again.earlierRejection == record.earlierRejection)
        again.attributes[EarlierRejection.attribute] = nil
        #expect(again == first)
        #expect(try await queue.allEvents().sorted() == ["e-a", "rejected:\(id)"])
        #expect(try await queue.reverify([id]) == [Reverification(id: id, state: .notRejected, eventId: "rejected:\(id)")])
        let story = try #require(try await queue.story(of: id))
        #expect(story.steps.map(\.step) == [.accepted, .rejected, .verified])
        #expect(story.steps[1].detail?.hasPrefix("unknown, published as rejected:\(id)") == true)
        #expect(try await queue.send(["KEYS", "*:rejected:*"]).array?.isEmpty == true)
      }
    }
  }

  @Test func `The result names what is not rejected, not stored or not known`() async throws {
    try await withQueue({ $0.rejectedBytes = 0 }) { queue, _ in
      let handler = Handler()
      handler.learn("good")
      try await queue.working(handler: { handler.handle($0) }) {
        let good = try await queue.accept(request("good")).id
        let bad = try await queue.accept(request("bad")).id
        _ = (try await ended(queue, good), try await ended(queue, bad))
        let unknown = queue.deliveryID(for: request("never"))
        #expect(
          try await queue.reverify([good, bad, unknown]) == [
            Reverification(id: good, state: .notRejected, eventId: nil),
            Reverification(id: bad, state: .notKept, eventId: "rejected:\(bad)"),
            Reverification(id: unknown, state: .notFound, eventId: nil),
          ])
      }
    }
  }

  @Test func `A delivery that is rejected again publishes another reason only, and can be judged again`() async throws {
    try await withQueue { queue, _ in
      let handler = Handler()
      try await queue.working(handler: { handler.handle($0) }) {
        let id = try await queue.accept(request("a")).id
        let first = try await ended(queue, id)
        let entry = try #require(try await queue.rejected([id], id.shard).first?.entry)
        for _ in 0..<2 {
          #expect(try await queue.reverify([id]).map(\.state) == [.queued])
          let record = try await ended(queue, id)
          #expect(record.reason == first.reason && record.eventId == first.eventId && record.earlierRejection?.eventId == first.eventId)
          // The rejection keeps its time, so that its body expires with its event.
          #expect(try await queue.rejected([id], id.shard).map(\.entry) == [entry])
        }
        #expect(try await queue.allEvents() == ["rejected:\(id)"])
        handler.set(reason: "other")
        #expect(try await queue.reverify([id]).map(\.state) == [.queued])
        let record = try await ended(queue, id)
        #expect(record.reason == "other" && record.eventId == "rejected:\(id):2" && record.earlierRejection?.reason == "unknown")
        #expect(try await queue.allEvents() == ["rejected:\(id)", "rejected:\(id):2"])
        handler.learn("a")
        #expect(try await queue.reverify([id]).map(\.eventId) == ["rejected:\(id):2"])
        #expect(try await ended(queue, id).earlierRejection?.reason == "other")
      }
    }
  }

  @Test func `A delivery that was verified meanwhile, as a repeat, is one event`() async throws {
    try await withQueue { queue, _ in
      let handler = Handler()
      try await queue.working(handler: { handler.handle($0) }) {
        let id = try await queue.accept(request("a")).id
        _ = try await ended(queue, id)
        handler.learn("a")
        // Other bytes with the same natural key.
        let other = try await queue.accept(request("a", copy: "other", order: nil)).id
        #expect(try await ended(queue, other).state == .verified)
        #expect(try await queue.reverify([id]).map(\.state) == [.queued])
        _ = try await ended(queue, id)
        #expect(try await queue.allEvents().filter { $0 == "e-a" }.count == 1)
        // The same bytes, sent again after a temporary reason: the body is dropped when the repeat is verified.
        let same = try await queue.accept(request("b")).id
        _ = try await ended(queue, same)
        _ = try await queue.send(["DEL"] + (try await queue.send(["KEYS", "*:seen:*"]).elements.compactMap(\.string).map { .string($0) }))
        handler.learn("b")
        #expect(try await queue.accept(request("b")) == .accepted(same))
        #expect(try await ended(queue, same).state == .verified)
        #expect(try await queue.reverify([same]).map(\.state) == [.notRejected])
        #expect(try await queue.rejectedBody(same) == nil)
        #expect(try await queue.allEvents().filter { $0 == "e-b" }.count == 1)
      }
    }
  }

  @Test func `A repeat that waits is not queued a second time`() async throws {
    try await withQueue { queue, _ in
      let id = try await RejectedBodiesTests.reject(queue, "a")
      _ = try await queue.send(["DEL"] + (try await queue.send(["KEYS", "*:seen:*"]).elements.compactMap(\.string).map { .string($0) }))
      #expect(try await queue.accept(request("a", order: "one")) == .accepted(id))
      #expect(try await queue.reverify([id]).map(\.state) == [.notRejected])
      #expect(try await queue.reverify(RejectionFilter(), limit: 10).results.map(\.state) == [.notRejected])
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 1)
      #expect(try await queue.rejectedBody(id) != nil)
    }
  }

  @Test(arguments: [true, false])
  func `Messages of one purchase are judged in the order of their receipt, after those that wait`(_ entersWhenVerified: Bool) async throws {
    try await withQueue { queue, _ in
      queue.linesEnteredWhenVerified.withLock { $0 = entersWhenVerified }
      let names = ["a", "b", "c", "d"]
      for (index, name) in names.enumerated() {
        var made = request(name, order: "x", keepsOrder: true)
        made.message.receivedAt += Int64(index)
        _ = try await queue.accept(made)
      }
      // Rejected in reverse, as if with different reasons in different classes.
      var ids: [DeliveryID] = []
      for (index, name) in names.enumerated() {
        for lease in try await queue.leaseAll("w\(index)") {
          #expect(lease.message.attributes["natural"] == name || entersWhenVerified)
          ids.append(lease.deliveryID)
          try await queue.complete(lease, Handler.rejected(lease, "r\(9 - index)"))
        }
      }
      #expect(ids.count == 4)
      _ = try await queue.accept(request("waits", order: "x", keepsOrder: true))
      #expect(try await queue.reverify(RejectionFilter(kind: "test"), limit: 10).results.allSatisfy { $0.state == .queued })
      queue.linesEnteredWhenVerified.withLock { $0 = nil }
      let order = Mutex<[String]>([])
      try await queue.working(handler: { lease in
        let natural = lease.message.attributes["natural"] ?? ""
        return .inOrder {
          order.withLock { $0.append(natural) }
          return .complete(verified(natural))
        }
      }) {
        try await eventually("all are verified") { order.withLock { $0.count == 5 } }
      }
      #expect(order.withLock { $0 } == ["waits", "a", "b", "c", "d"])
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)
    }
  }

  // MARK: Selection

  @Test func `Deliveries are selected by kind, reason and time, page by page`() async throws {
    try await withQueue { queue, _ in
      var all: [(id: DeliveryID, kind: String, reason: String, time: Int64)] = []
      for number in 0..<60 {
        let (kind, reason) = (["k1", "k2", "k"][number % 3], ["r1", "r12", "r"][number / 3 % 3])
        var made = request("n\(number)")
        made.message.kind = kind
        let id = try await queue.accept(made).id
        let time = 1_700_000_000_000 + Int64(number % 20)
        for lease in try await queue.leaseAll("a") {
          var completion = Completion(state: .rejected, events: [], reason: reason)
          completion.keptBody = KeptBody(environment: number % 2 == 0 ? "" : "Production")
          _ = try await queue.complete([(lease, completion)], now: [time])
        }
        all.append((id, kind, reason, time))
      }
      let earliest = all[0].time
      for filter in [
        RejectionFilter(kind: "k1"), RejectionFilter(reason: "r1"), RejectionFilter(kind: "k", reason: "r"),
        RejectionFilter(kind: "k2", reason: "r12", start: earliest + 5, end: earliest + 15), RejectionFilter(start: earliest + 19),
        RejectionFilter(end: earliest + 1), RejectionFilter(kind: "k3"), RejectionFilter(start: earliest + 7, end: earliest + 7),
        RejectionFilter(),
      ] {
        let expected = all.filter { one in
          guard filter.kind == nil || filter.kind == one.kind else { return false }
          guard filter.reason == nil || filter.reason == one.reason else { return false }
          return one.time >= filter.start && one.time < filter.end ?? .max
        }.map(\.id)
        var (found, position, pages): ([DeliveryID], RejectionPosition?, Int) = ([], nil, 0)
        repeat {
          let page = try await queue.reverify(filter, after: position, limit: 7)
          #expect(page.results.allSatisfy { $0.state == .queued })
          #expect(page.results.count == 7 || page.next == nil)
          found += page.results.map(\.id)
          position = try page.next.map { try #require(RejectionPosition($0.text)) }
          pages += 1
        } while position != nil
        #expect(Set(found) == Set(expected) && found.count == expected.count)
        #expect(pages == max(1, (expected.count + 6) / 7))
        // They are rejected again for the next filter.
        for lease in try await queue.leaseAll("a") {
          let one = try #require(all.first { $0.id == lease.deliveryID })
          var completion = Completion(state: .rejected, events: [], reason: one.reason)
          completion.keptBody = KeptBody()
          try await queue.complete(lease, completion)
        }
      }
    }
  }

  @Test func `A delivery that is rejected again between two pages is not selected again`() async throws {
    try await withQueue { queue, _ in
      for number in 0..<6 { try await RejectedBodiesTests.reject(queue, "n\(number)", reason: "a") }
      try await Task.sleep(for: .milliseconds(5))
      var (count, position): (Int, RejectionPosition?) = (0, nil)
      repeat {
        let page = try await queue.reverify(RejectionFilter(kind: "test"), after: position, limit: 2)
        count += page.results.count
        position = page.next
        try await Task.sleep(for: .milliseconds(5))
        // The new reason sorts after the position.
        for lease in try await queue.leaseAll("a") { try await queue.complete(lease, Handler.rejected(lease, "z")) }
      } while position != nil && count < 20
      #expect(count == 6)
    }
  }

  @Test(arguments: ["", "-", "1-2", "1-256-YQ", "-1-2-YQ", "x-2-YQ", "1-2-", "1-2-%", "9223372036854775807-1-YQ", "4503599627370497-1-YQ"])
  func `Invalid page tokens are refused`(_ text: String) { #expect(RejectionPosition(text) == nil) }

  @Test func `Any entry in a page token is harmless`() async throws {
    try await withQueue { queue, _ in
      let id = try await RejectedBodiesTests.reject(queue, "a")
      for entry in ["\u{0}", "[", "(", "+", "test x  9", String(repeating: "z", count: 5000)] {
        let position = RejectionPosition(shard: id.shard, entry: entry, start: 1 << 52)
        #expect(RejectionPosition(position.text) == position)
        _ = try await queue.reverify(RejectionFilter(kind: "none"), after: position, limit: 10)
      }
    }
  }

  // MARK: Faults

  /// Accepts, repeats, rejects, verifies, judges again and kills workers in random order. In the end each delivery has exactly one outcome.
  @Test(arguments: [UInt64.random(in: 0..<1 << 32), 1, 2])
  func `Whatever process ends between the steps, each delivery is verified once`(_ seed: UInt64) async throws {
    print("seed \(seed)")
    try await withQueue({ $0.workerTimeout = .milliseconds(300) }) { queue, _ in
      var random = SeededRandom(seed: seed)
      let naturals = (0..<40).map { "n\($0)" }
      var ids: [String: DeliveryID] = [:]
      let reasons = Mutex<[String: String]>([:])
      let isStuck = Mutex(false)
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        // A worker that ends now has read the message and not settled it.
        while isStuck.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
        let natural = lease.message.attributes["natural"] ?? ""
        guard let reason = reasons.withLock({ $0[natural] }) else { return .inOrder { .complete(verified(natural)) } }
        return .complete(Handler.rejected(lease, reason))
      }
      for natural in naturals where Bool.random(using: &random) { reasons.withLock { $0[natural] = "a" } }
      for _ in 0..<8 {
        let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: handler)
        let run = Task { await worker.run() }
        for natural in naturals.shuffled(using: &random).prefix(12) {
          let order = natural.utf8.last.map { $0 % 2 == 0 } == true ? "purchase" : nil
          ids[natural] = try await queue.accept(request(natural, order: order, keepsOrder: order != nil)).id
        }
        isStuck.withLock { $0 = Bool.random(using: &random) }
        // Several callers at the same time; a call whose caller ends may be carried out.
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<3 {
            let some = Array(ids.values.shuffled(using: &random).prefix(10))
            group.addTask { _ = try? await queue.reverify(some) }
            group.addTask { _ = try? await queue.reverify(RejectionFilter(kind: "test"), limit: 5) }
          }
        }
        for natural in naturals where Int.random(in: 0..<4, using: &random) == 0 {
          reasons.withLock { reasons in
            switch Int.random(in: 0..<3, using: &random) {
            case 0: reasons[natural] = nil
            case 1: reasons[natural] = "a"
            default: reasons[natural] = "b"
            }
          }
        }
        if Bool.random(using: &random) { run.cancel() }
        isStuck.withLock { $0 = false }
        worker.stop()
        await run.value
      }
      // Everything can be verified now.
      reasons.withLock { $0 = [:] }
      try await queue.working(handler: handler) {
        var position: RejectionPosition?
        repeat {
          position = try await queue.reverify(RejectionFilter(kind: "test"), after: position, limit: 10).next
        } while position != nil
        for id in ids.values {
          try await eventually("\(id) is settled") {
            _ = try await queue.reverify([id])
            return try await queue.delivery(id)?.state == .verified
          }
        }
      }
      let events = try await queue.allEvents()
      #expect(events.count == Set(events).count)
      #expect(Set(events.filter { $0.hasPrefix("e-") }) == Set(ids.keys.map { "e-" + $0 }))
      #expect(try await queue.send(["KEYS", "*:rejected:*"]).array?.isEmpty == true)
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)
      let snapshot = try await QueueAdministration(deliveries: queue).snapshot(.intake)
      #expect(snapshot.depth == 0 && snapshot.delayed == 0 && snapshot.dead == 0)
    }
  }
}
