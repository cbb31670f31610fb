import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

/// Workers in the first form, together with workers of builds that know no other form, and the changes between the two forms.
@Suite("Workers of two forms")
struct FormSwitchTests {
  /// Sets the store's form and waits until the instances know it.
  static func set(_ form: StoreForm, _ queue: DeliveryQueue) async throws {
    _ = try await queue.send(["SET", .string(Keys.form), .integer(Int64(form.rawValue))])
    try await eventually("it is known") { try await queue.form == form }
  }

  /// True if all shards of the queue are worked in the form.
  static func isWorked(in form: StoreForm, _ queue: DeliveryQueue) async throws -> Bool {
    for shard in Shard.all {
      let groups = try await queue.redis.sendAllowingErrors(["XINFO", "GROUPS", .string(Keys.ready(.intake, shard))]).array ?? []
      guard let last = groups.first.map({ EventFeed.fields($0)["last-delivered-id"]?.string }) else { return false }
      guard (last == EntryID.greatest.text) == (form == .owned) else { return false }
    }
    return true
  }

  /// A worker of a build that knows only the first form. It leases messages of all shards, settles each under its lease, creates missing
  /// consumer groups, and takes over messages with expired leases.
  final class OldWorker: Sendable {
    let queue: DeliveryQueue
    let name: String
    let leased = Mutex(0)
    let lost = Mutex(0)
    private let isStopping = Mutex(false)

    init(_ queue: DeliveryQueue, _ name: String) { (self.queue, self.name) = (queue, name) }

    func stop() { isStopping.withLock { $0 = true } }

    func run(_ handler: @Sendable (LeasedMessage) async -> WorkOutcome) async {
      while !Task.isCancelled, !isStopping.withLock({ $0 }) {
        for shard in Shard.all {
          let key = RedisArgument.string(Keys.ready(.intake, shard))
          _ = try? await queue.redis.sendAllowingErrors(["XGROUP", "CREATE", key, .string(DeliveryQueue.group), "0", "MKSTREAM"])
          let read = try? await queue.send([
            "XREADGROUP", "GROUP", .string(DeliveryQueue.group), .string(name), "COUNT", "4", "STREAMS", key, ">",
          ])
          var entries: [(RedisReply, Int64)] = (read?.array?.first?.array?.last?.array ?? []).map { ($0, 1) }
          let again = try? await queue.run(
            Scripts.reclaim, [Keys.ready(.intake, shard)],
            [.string(DeliveryQueue.group), .string(name), .integer(queue.configuration.lease.milliseconds), "4"])
          entries += (again?.array?.last?.array ?? []).map { ($0, $0.array?.last?.integer ?? 1) }
          for (entry, count) in entries {
            guard let parts = entry.array,
              let message = LeasedMessage(
                queue: .intake, entryID: parts[0].string ?? "", fields: parts[1], deliveryCount: count, consumer: name)
            else { continue }
            leased.withLock { $0 += 1 }
            let outcome = await handler(message)
            do { try await queue.settle(message, outcome) } catch { lost.withLock { $0 += 1 } }
          }
        }
        // Leaves time to the other tests.
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  final class Load: Sendable {
    /// The maximum number of waiting messages. More would take minutes on a slow machine.
    static let maxWaiting = 60
    static let lines = 6
    let rounds = Mutex(0)
    let worked = Mutex(0)
    let isRolling = Mutex(true)
  }

  @Test("In the first form a worker leases the messages of its shards, and takes over messages with expired leases")
  func leases() async throws {
    try await withQueue({ $0.lease = .milliseconds(300) }) { queue, _ in
      try await Self.set(.leased, queue)
      for number in 0..<40 { _ = try await queue.accept(request("m\(number)")) }
      let held = try await queue.leaseAll("dead")
      #expect(held.count == 40)
      let attempts = Mutex<[Int]>([])
      let seenLeased = Mutex<Int64>(0)
      try await queue.working(handler: { message in
        attempts.withLock { $0.append(message.attempt) }
        if let leased = try? await queue.leased() { seenLeased.withLock { $0 = max($0, leased) } }
        return .complete(verified(message.message.attributes["natural"] ?? ""))
      }) {
        for number in 40..<60 { _ = try await queue.accept(request("m\(number)")) }
        try await eventually("all are worked") { try await queue.allEvents().count == 60 }
        await #expect(throws: QueueError.leaseLost) { try await queue.complete(held[0], verified("m0")) }
      }
      #expect(attempts.withLock { $0.count { $0 == 2 } } >= 40)
      #expect(seenLeased.withLock { $0 } > 0)
      #expect(try await queue.leased() == 0)
      #expect(Set(try await queue.allEvents()).count == 60)
    }
  }

  @Test("Idle shards are worked in the new form soon after a change, in both directions")
  func idle() async throws {
    try await withQueue { queue, _ in
      try await Self.set(.leased, queue)
      try await queue.working(handler: { _ in .complete(verified("x")) }) {
        for form in [StoreForm.owned, .leased, .owned] {
          try await eventually("all shards are owned in the form before") {
            try await Self.isWorked(in: form == .owned ? .leased : .owned, queue)
          }
          try await Self.set(form, queue)
          try await eventually("all shards changed") { try await Self.isWorked(in: form, queue) }
        }
      }
    }
  }

  @Test("In the first form, leases are renewed while a handler runs")
  func renews() async throws {
    try await withQueue({ $0.lease = .seconds(1) }) { queue, _ in
      try await Self.set(.leased, queue)
      let worked = Mutex(0)
      let old = OldWorker(queue, "old")
      async let taking: Void = old.run { _ in .complete(verified("taken over")) }
      // Either worker may lease a message first. The new one keeps the messages that it has leased.
      try await queue.working(handler: { message in
        worked.withLock { $0 += 1 }
        try? await Task.sleep(for: .milliseconds(2500))
        return .complete(verified("kept " + (message.message.attributes["natural"] ?? "")))
      }) {
        try await eventually("the new one has begun some") {
          _ = try await queue.accept(request("\(UInt32.random(in: 0 ... .max))"))
          return worked.withLock { $0 } >= 3
        }
        try await Task.sleep(for: .seconds(3))
        old.stop()
        try await eventually("all are worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      }
      await taking
      let kept = try await queue.allEvents().count { $0.hasPrefix("e-kept") }
      #expect(kept == worked.withLock { $0 })
    }
  }

  @Test("A message that crashes its workers becomes a dead letter in the first form too")
  func poison() async throws {
    try await withQueue({
      $0.lease = .milliseconds(100)
      $0.maxDeliveries = 3
    }) { queue, _ in
      try await Self.set(.leased, queue)
      _ = try await queue.accept(request("poison"))
      #expect(try await queue.leaseAll("dead").count == 1)
      for _ in 0..<2 { #expect(try await queue.reclaimAll("dead").first != nil) }
      try await queue.working(handler: { _ in .complete(verified("x")) }) {
        try await eventually("it is a dead letter") { try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 1 }
      }
      let letter = try #require(try await QueueAdministration(deliveries: queue).deadLetters(.intake, limit: 1).first)
      #expect(letter.lastError == "its worker ended 3 times without finishing it")
    }
  }

  @Test("A worker in the first form gives back its leases when it stops")
  func givesBack() async throws {
    try await withQueue { queue, _ in
      try await Self.set(.leased, queue)
      for number in 0..<300 { _ = try await queue.accept(request("m\(number)")) }
      let worked = Mutex(0)
      let mayEnd = Mutex(false)
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random()) { message in
        worked.withLock { $0 += 1 }
        while !mayEnd.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
        return .complete(verified(message.message.attributes["natural"] ?? ""))
      }
      let run = Task { await worker.run() }
      try await eventually("work was begun") { worked.withLock { $0 } >= 3 }
      worker.stop()
      mayEnd.withLock { $0 = true }
      await run.value
      #expect(try await queue.leased() == 0)
      let left = try await QueueAdministration(deliveries: queue).snapshot(.intake)
      #expect(Int(left.depth + left.delayed) == 300 - worked.withLock { $0 })
      for shard in Shard.all {
        let consumers = try await queue.redis.sendAllowingErrors([
          "XINFO", "CONSUMERS", .string(Keys.ready(.intake, shard)), .string(DeliveryQueue.group),
        ])
        #expect(consumers.array?.contains { EventFeed.fields($0)["name"]?.string == worker.name } != true)
      }
    }
  }

  @Test("When a shard is taken in the newer form, only the owner settles messages that another worker had leased")
  func fence() async throws {
    try await withQueue { queue, _ in
      try await Self.set(.leased, queue)
      let id = try await queue.accept(request("a")).id
      let held = try #require(try await queue.leaseAll("old").first)
      try await Self.set(.owned, queue)
      let taken = try await ShardOwnership(text: "").take(.intake, id.shard, for: "new", isAbandoned: false, queue)
      guard case .own(let ownership, _) = taken else { return #expect(Bool(false), "not taken") }
      #expect(ownership.form == .owned)
      // The old worker can neither settle nor renew nor lease anything, although it tries to create the group.
      await #expect(throws: QueueError.leaseLost) { try await queue.complete(held, verified("old")) }
      await #expect(throws: QueueError.leaseLost) { try await queue.retry(held, after: .zero, error: "x") }
      await #expect(throws: QueueError.leaseLost) { try await queue.renew(held) }
      let key = RedisArgument.string(Keys.ready(.intake, id.shard))
      let made = try await queue.redis.sendAllowingErrors(["XGROUP", "CREATE", key, .string(DeliveryQueue.group), "0", "MKSTREAM"])
      #expect(made.error?.hasPrefix("BUSYGROUP") == true)
      let read = try await queue.send(["XREADGROUP", "GROUP", .string(DeliveryQueue.group), "old", "STREAMS", key, ">"])
      #expect(read.isNull)
      #expect(try await queue.allEvents().isEmpty)
      // In the first form again, unsettled messages are read from the first entry by any worker.
      try await Self.set(.leased, queue)
      guard case .own(let later, _) = try await ownership.take(.intake, id.shard, for: "new", isAbandoned: false, queue) else {
        return #expect(Bool(false), "not taken")
      }
      #expect(later.form == .leased)
      let again = try await queue.send(["XREADGROUP", "GROUP", .string(DeliveryQueue.group), "old", "STREAMS", key, ">"])
      #expect(again.array?.first?.array?.last?.array?.count == 1)
      // A commit of the former owner is refused because of its epoch, although no other worker owns the shard.
      var call = CommitBatch(.intake, id.shard, expectedCount: 1, queue)
      let fields = try #require(again.array?.first?.array?.last?.array?.first?.array)
      let message = try #require(
        LeasedMessage(queue: .intake, entryID: fields[0].string ?? "", fields: fields[1], deliveryCount: 1, consumer: ""))
      call.complete(message, verified("stale"), now: DeliveryQueue.now)
      #expect(try await queue.run(Scripts.commit, call.keys, call.arguments(.owner(ownership))).array?.count == 1)
      #expect(try await queue.allEvents().isEmpty)
    }
  }

  /// The order is not checked, because older workers also lease messages that are not in their order line.
  @Test("A running worker changes its form back and forth, and messages are settled once")
  func rolls() async throws {
    try await withQueue({
      $0.lease = .milliseconds(500)
      // Long enough that no worker counts as dead on a slow machine. Other tests move shards between workers.
      $0.workerTimeout = .seconds(10)
      $0.backoffCap = .milliseconds(20)
    }) { queue, _ in
      try await Self.set(.leased, queue)
      let events = Mutex<[String: [Int]]>([:])
      let load = Load()
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { message in
        let parts = (message.message.attributes["natural"] ?? "").split(separator: ":")
        if Int.random(in: 0..<8) == 0 { return .inOrder { .retry(after: .milliseconds(.random(in: 0...10)), error: "again") } }
        // There is no natural key, so a message that is settled twice has two events.
        let id = "e-\(parts[0]):\(parts[1]):\(UInt32.random(in: 0 ... .max))"
        return .inOrder {
          // Counted here, because the handler is called again for a message that waits for an earlier one.
          load.worked.withLock { $0 += 1 }
          return .complete(Completion(state: .done, events: [EventRecord(id: id, type: "t", json: Array("{}".utf8))]))
        }
      }
      let old = OldWorker(queue, "old")
      let working = Task { await old.run(handler) }
      let accepting = Task {
        while load.isRolling.withLock({ $0 }) {
          let number = load.rounds.withLock { $0 }
          guard number * Load.lines - load.worked.withLock({ $0 }) < Load.maxWaiting else {
            try await Task.sleep(for: .milliseconds(5))
            continue
          }
          for line in 0..<Load.lines { _ = try await queue.accept(request("l\(line):\(number)", order: "l\(line)", keepsOrder: true)) }
          load.rounds.withLock { $0 += 1 }
          try await Task.sleep(for: .milliseconds(5))
        }
      }
      defer {
        working.cancel()
        accepting.cancel()
      }
      try await queue.working(handler: handler) {
        try await queue.working(handler: handler) {
          for form in [StoreForm.owned, .leased, .owned, .leased] {
            try await Task.sleep(for: .milliseconds(700))
            try await Self.set(form, queue)
            try await eventually("all shards are worked in form \(form)") { try await Self.isWorked(in: form, queue) }
            let count = old.leased.withLock { $0 }
            if form == .leased { try await eventually("the old one works again") { old.leased.withLock { $0 } > count } }
          }
          load.isRolling.withLock { $0 = false }
          try await accepting.value
          try await eventually("all are worked") {
            let left = try await QueueAdministration(deliveries: queue).snapshot(.intake)
            return left.depth + left.inFlight + left.delayed == 0
          }
        }
      }
      old.stop()
      await working.value
      for id in try await queue.allEvents() {
        let parts = id.dropFirst(2).split(separator: ":")
        events.withLock { $0[String(parts[0]), default: []].append(Int(parts[1]) ?? -1) }
      }
      let count = load.rounds.withLock { $0 }
      for line in 0..<Load.lines { #expect(events.withLock { $0["l\(line)"]?.sorted() } == Array(0..<count)) }
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 0)
    }
  }

  @Test("Messages that wait unverified when the first form returns keep their order, also with messages that are accepted afterwards")
  func orderOfWaitingMessages() async throws {
    try await withQueue { queue, _ in
      try await Self.set(.owned, queue)
      let id = try await queue.accept(request("l:0", order: "l", keepsOrder: true)).id
      guard case .own = try await ShardOwnership(text: "").take(.intake, id.shard, for: "gone", isAbandoned: false, queue) else {
        return #expect(Bool(false), "not taken")
      }
      for number in 1..<5 { _ = try await queue.accept(request("l:\(number)", order: "l", keepsOrder: true)) }
      _ = try await queue.accept(request("other", order: "l"))
      // No shard is in the first form yet, but messages are accepted for it.
      try await Self.set(.leased, queue)
      for number in 5..<8 { _ = try await queue.accept(request("l:\(number)", order: "l", keepsOrder: true)) }
      try await queue.working(handler: { message in .inOrder { .complete(verified(message.message.attributes["natural"] ?? "")) } }) {
        for number in 8..<10 { _ = try await queue.accept(request("l:\(number)", order: "l", keepsOrder: true)) }
        try await eventually("all are worked") { try await queue.allEvents().count == 11 }
      }
      #expect(try await queue.allEvents().filter { $0 != "e-other" } == (0..<10).map { "e-l:\($0)" })
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)
      let left = try await QueueAdministration(deliveries: queue).snapshot(.intake)
      #expect(left.depth + left.inFlight + left.delayed + left.dead == 0)
    }
  }

  @Test("A shard that changes to the first form has every waiting message of a line in it, and only the first in the stream")
  func entersLines() async throws {
    try await withQueue { queue, _ in
      try await Self.set(.owned, queue)
      var accepted: [DeliveryID] = []
      for number in 0..<3 { accepted.append(try await queue.accept(request("l:\(number)", order: "l", keepsOrder: true)).id) }
      let shard = accepted[0].shard
      let taken = try await ShardOwnership(text: "").take(.intake, shard, for: "a", isAbandoned: false, queue)
      guard case .own(var ownership, _) = taken else {
        return #expect(Bool(false), "not taken")
      }
      // An unreadable entry has no position in the order line.
      let entries = try await queue.send(["XRANGE", .string(Keys.ready(.intake, shard)), "-", "+", "COUNT", "1"]).array ?? []
      let name = try #require(entries.first?.array.flatMap { EventFeed.fields($0[1])["o"]?.string })
      _ = try await queue.send(["XADD", .string(Keys.ready(.intake, shard)), "*", "i", "unreadable", "o", .string(name)])
      try await Self.set(.leased, queue)
      let later = try await queue.accept(request("l:3", order: "l", keepsOrder: true)).id
      // The shard is still worked in the owned form, so the message enters its line with those before it.
      #expect(try await queue.send(["KEYS", "*:line:*"]).array?.isEmpty == true)
      for _ in 0..<2 {
        // The second time, the shard is in the first form already, and nothing changes.
        guard case .own(let next, _) = try await ownership.take(.intake, shard, for: "a", isAbandoned: false, queue) else {
          return #expect(Bool(false), "not taken")
        }
        ownership = next
        let line = try #require(try await queue.send(["KEYS", "*:line:*"]).array?.first?.string)
        #expect(try await queue.send(["LRANGE", .string(line), "0", "-1"]).array?.map(\.string) == (accepted + [later]).map(\.description))
        let stream = try await queue.send(["XRANGE", .string(Keys.ready(.intake, shard)), "-", "+"]).array ?? []
        #expect(stream.map { $0.array.map { EventFeed.fields($0[1])["i"]?.string } } == [accepted[0].description, "unreadable"])
        let delayed = try await queue.send(["ZRANGEBYSCORE", .string(Keys.delayed(.intake, shard)), "+inf", "+inf"]).array ?? []
        #expect(Set(delayed.compactMap(\.string)) == Set((accepted[1...] + [later]).map(\.description)))
        #expect(try await queue.send(["HLEN", .string(Keys.payloads(.intake, shard))]).integer == 3)
      }
    }
  }

  @Test("A message that is accepted or replayed enters its order line by the form of its shard, not by the form that the instance knows")
  func formOfTheShardDecides() async throws {
    try await withQueue { queue, _ in
      try await Self.set(.leased, queue)
      let shard = try await queue.accept(request("other", order: "l")).id.shard
      guard case .own = try await ShardOwnership(text: "").take(.intake, shard, for: "a", isAbandoned: false, queue) else {
        return #expect(Bool(false), "not taken")
      }
      // The shard is still in the first form.
      try await Self.set(.owned, queue)
      let first = try await queue.accept(request("l:0", order: "l", keepsOrder: true)).id
      let second = try await queue.accept(request("l:1", order: "l", keepsOrder: true)).id
      let line = try #require(try await queue.send(["KEYS", "*:line:*"]).array?.first?.string)
      func members() async throws -> [String?] { try await queue.send(["LRANGE", .string(line), "0", "-1"]).array?.map(\.string) ?? [] }
      #expect(try await members() == [first.description, second.description])
      for message in try await queue.leaseAll("w") where message.deliveryID == first {
        try await queue.settle(message, .deadLetter(error: "x"))
      }
      #expect(try await members() == [second.description])
      #expect(try await QueueAdministration(deliveries: queue).replay(.intake, ids: [first]) == 1)
      #expect(try await members() == [second.description, first.description])
    }
  }

  @Test("The newer form is refused while a worker exists that does not know it, unless forced")
  func refusal() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      try await Self.set(.leased, queue)
      try await queue.working(handler: { _ in .complete(verified("x")) }) {
        let id = try await queue.accept(request("a")).id
        try await eventually("it is worked") { try await queue.allEvents() == ["e-x"] }
        #expect(try await administration.form() == StoreFormState(form: .leased, shardsBehind: 0, olderWorkers: []))
        let key = RedisArgument.string(Keys.ready(.intake, id.shard))
        _ = try await queue.send(["XGROUP", "CREATECONSUMER", key, .string(DeliveryQueue.group), "0f1e-old"])
        let workers = try await administration.form().olderWorkers
        #expect(workers.map(\.name) == ["0f1e-old"] && workers.map(\.form) == [1] && workers.map(\.queue) == [.intake])
        await #expect(throws: StoreFormRefusal.self) { _ = try await administration.setForm(.owned, force: false) }
        #expect(try await queue.send(["GET", .string(Keys.form)]).string == "1")
        _ = try await administration.setForm(.owned, force: true)
        try await eventually("all shards are worked in it") { try await administration.form().shardsBehind == 0 }
        #expect(try await administration.form().form == .owned)
        // The change to the first form is never refused.
        _ = try await administration.setForm(.leased, force: false)
        try await eventually("all shards are worked in it") { try await administration.form().shardsBehind == 0 }
      }
    }
  }
}
