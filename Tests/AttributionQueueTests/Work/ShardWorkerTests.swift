import EventLoops
import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

@Suite struct ShardWorkerTests {
  private static let verifying: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
    .complete(verified(lease.message.attributes["natural"] ?? ""))
  }

  /// Runs a worker whose shards are owned while the body runs.
  private func working(
    _ queue: DeliveryQueue, handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome = verifying,
    while body: (ShardWorker) async throws -> Void
  ) async throws {
    let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: handler)
    let run = Task { await worker.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body(worker)) } catch { result = .failure(error) }
    worker.stop()
    await run.value
    try result.get()
  }

  private func share(of worker: ShardWorker, among workers: [ShardWorker]) -> Int {
    ShardAssignment.shards(of: worker.name, among: workers.map(\.name)).count
  }

  private func ownerships(_ queue: DeliveryQueue) async throws -> [ShardOwnership] {
    var all: [ShardOwnership] = []
    for shard in Shard.all { all.append(try await .read(.intake, shard, queue)) }
    return all
  }

  @Test func `A shard whose Redis is unreachable is retried soon at first, and less often later`() {
    #expect((1...3).allSatisfy { ShardWorker.pauses(after: $0) == 50...500 })
    #expect(ShardWorker.pauses(after: 4) == 100...1000)
    #expect([5, 6, 1000, Int.max].allSatisfy { ShardWorker.pauses(after: $0) == 200...2000 })
  }

  @Test func `Existing and new messages are processed in order and leave no data`() async throws {
    try await withQueue { queue, _ in
      let names = (0..<100).map { "n\($0)" }
      for name in names[..<50] { _ = try await queue.accept(request(name, order: "one")) }
      let worked = Mutex<[String]>([])
      try await working(
        queue,
        handler: { lease in
          worked.withLock { $0.append(lease.message.attributes["natural"] ?? "") }
          return await Self.verifying(lease)
        }
      ) { _ in
        for name in names[50...] { _ = try await queue.accept(request(name, order: "one")) }
        _ = try await queue.accept(request("n0", copy: "again", order: "one"))
        try await eventually("all are worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      }
      #expect(worked.withLock { $0 } == names + ["n0"])
      #expect(try await queue.allEvents() == names.map { "e-" + $0 })
      #expect(try await queue.delivery(queue.deliveryID(for: request("n7", order: "one")))?.state == .verified)
      let shard = queue.deliveryID(for: request("n0", order: "one")).shard
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, shard))]).integer == 0)
      // The shards were released, so the next worker need not wait.
      let owners = try await ownerships(queue)
      #expect(owners.allSatisfy { $0.owner == nil })
      #expect(try await queue.send(["ZCARD", .string(Keys.workers(.intake))]).integer == 0)
    }
  }

  @Test func `A message in an empty shard notifies the owner`() async throws {
    try await withQueue { queue, _ in
      let heard = Mutex<[Shard]>([])
      let subscriptions = ShardSubscriptions(.intake, queue, loop: 0) { shard, _ in heard.withLock { $0.append(shard) } }
      let shard = queue.deliveryID(for: request("a")).shard
      subscriptions.want(shard)
      try await eventually("it is subscribed") {
        await subscriptions.update()
        return subscriptions.isWhole
      }
      heard.withLock { $0 = [] }
      _ = try await queue.accept(request("a"))
      try await eventually("it is heard") { heard.withLock { $0 } == [shard] }
      // While the stream is not empty, its owner continues reading without notifications.
      _ = try await queue.accept(request("a", copy: "again"))
      #expect(heard.withLock { $0.count } == 1, "while something was there")
      subscriptions.forget(shard)
      await subscriptions.update()
      try await queue.redis.send(["DEL", .string(Keys.ready(.intake, shard))])
      _ = try await queue.accept(request("a", copy: "third"))
      #expect(heard.withLock { $0 } == [shard])
      subscriptions.close()
    }
  }

  @Test func `A message that is accepted between the next read and the commit is read next`() async throws {
    try await withQueue { queue, server in
      let owned = try await OwnedMessages(queue, (0..<ShardWorker.settledTogether).map { "n\($0)" })
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing, handler: Self.verifying)
      let shard = WorkerShard(owned.shard)
      shard.own(owned.ownership, suspectedUntil: nil)
      let group = GroupCommit(queue, EventLoopExecutor.all()[0], number: 0)
      let loop = await ShardWorker.WorkerLoop(nil, shards: 1, group: group)
      let sender = try await server.queue()
      // Writes wait in the order of their arrival, and reads do not: the accept is before the commit, and both are behind the read.
      try await queue.redis.send(["CLIENT", "PAUSE", "600000", "WRITE"])
      async let accepted = sender.accept(request("late", order: "one"))
      try await eventually("the accept waits") { try await self.pausedClients(queue) == 1 }
      try await queue.redis.send(["CONFIG", "RESETSTAT"])
      async let next = worker.settle(
        owned.batch(queue, 0..<ShardWorker.settledTogether), shard, owned.ownership, loop, readsOn: true)
      try await eventually("the commit waits, and the next messages were read") {
        // One XRANGE is a question of the transaction.
        guard try await self.pausedClients(queue) == 2 else { return false }
        return try await self.calls("xrange", queue) == 2
      }
      try await queue.redis.send(["CLIENT", "UNPAUSE"])
      // Not an empty read, with which the work of the shard would end.
      #expect(try await next == nil)
      #expect(try await accepted.id.shard == owned.shard)
      #expect(try await queue.send(["XLEN", .string(Keys.ready(.intake, owned.shard))]).integer == 1)
      sender.redis.close()
      group.close()
    }
  }

  private func pausedClients(_ queue: DeliveryQueue) async throws -> Int {
    let clients = try await queue.send(["CLIENT", "LIST"]).string ?? ""
    let flags = clients.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("flags=") }
    return flags.count { $0.dropFirst("flags=".count).contains("b") }
  }

  private func calls(_ command: String, _ queue: DeliveryQueue) async throws -> Int {
    let calls = try await queue.redis.send(["INFO", "commandstats"]).string ?? ""
    let line = calls.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_\(command):calls=") }
    return line.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix { $0 != "," }) } ?? 0
  }

  @Test func `An idle worker asks for all of its shards with one command, and finds a message that was added by hand`() async throws {
    try await withQueue { queue, _ in
      try await working(queue, handler: { _ in .deadLetter(error: "no") }) { worker in
        try await eventually("it owns all shards") { worker.owned == Shard.count }
        var found = 0
        // Until it has subscribed to all shards, it reads each of them several times a second.
        try await eventually("it asks for all shards, and reads the one that has a message") {
          try await queue.redis.send(["CONFIG", "RESETSTAT"])
          // Without a notification, and unreadable.
          try await queue.redis.send(["XADD", .string(Keys.ready(.intake, Shard(77))), "*", "i", "nobody", "z", "1"])
          found += 1
          try await eventually("it was found") {
            try await queue.redis.send(["XLEN", .string(Keys.dead(.intake, Shard(77)))]).integer == Int64(found)
          }
          let (asked, read) = (try await calls("xread", queue), try await calls("xrange", queue))
          return (1...3).contains(asked) && (1..<20).contains(read)
        }
      }
    }
  }

  @Test func `Every outcome is settled as the handler decided`() async throws {
    try await withQueue({
      $0.backoffBase = .milliseconds(1)
      $0.maxAttempts = 3
    }) { queue, _ in
      let names = ["done", "again", "dead", "waits", "always"]
      for name in names { _ = try await queue.accept(request(name, order: "one")) }
      let shard = queue.deliveryID(for: request("done", order: "one")).shard
      // An entry that was added by hand.
      try await queue.redis.send(["XADD", .string(Keys.ready(.intake, shard)), "*", "i", "nobody", "z", "1"])
      let attempts = Mutex<[String: [Int]]>([:])
      try await working(
        queue,
        handler: { lease in
          let name = lease.message.attributes["natural"] ?? ""
          let count = attempts.withLock { attempts in
            attempts[name, default: []].append(lease.attempt)
            return attempts[name]?.count ?? 0
          }
          switch name {
          case "again" where count < 3: return .retry(after: .milliseconds(5), error: "not yet")
          case "waits" where count < 3: return .wait(.milliseconds(5))
          case "always": return .retry(after: nil, error: "never\nat all")
          case "dead": return .deadLetter(error: "no")
          default: return .complete(verified(name))
          }
        }
      ) { _ in
        try await eventually("all are settled") {
          let now = try await QueueAdministration(deliveries: queue).snapshot(.intake)
          return now.depth + now.delayed == 0 && now.dead == 3
        }
      }
      #expect(try await queue.allEvents().sorted() == ["e-again", "e-done", "e-waits"])
      #expect(attempts.withLock { $0["again"] } == [1, 2, 3])
      #expect(attempts.withLock { $0["waits"] } == [1, 1, 1])
      #expect(attempts.withLock { $0["always"] } == [1, 2, 3])
      let letters = try await QueueAdministration(deliveries: queue).deadLetters(.intake, limit: 10)
      #expect(Set(letters.map(\.lastError)) == ["never at all", "no", UnreadableEntry.reason])
      let always = try #require(letters.first { $0.lastError == "never at all" })
      #expect(always.attempts == 3 && always.history.count == 3)
      #expect(try await queue.delivery(always.id)?.state == .dead)
      let again = try await queue.delivery(queue.deliveryID(for: request("again", order: "one")))
      #expect(again?.attempts == 3 && again?.lastError == "not yet")
    }
  }

  @Test func `A message whose key was claimed before is left to its handler, and the others are settled`() async throws {
    try await withQueue { queue, _ in
      let names = ["a", "b", "a", "c", "a"]
      for (copy, name) in names.enumerated() { _ = try await queue.accept(request(name, copy: "\(copy)", order: "one")) }
      let asked = Mutex(0)
      try await working(
        queue,
        handler: { lease in
          let name = lease.message.attributes["natural"] ?? ""
          var completion = verified(name)
          completion.whenSeen = {
            let count = asked.withLock { asked in
              asked += 1
              return asked
            }
            return .complete(
              Completion(
                state: .rejected, events: [EventRecord(id: "seen-\(count)", type: "t.s", json: Array("{}".utf8))], reason: "conflict"))
          }
          return .complete(completion)
        }
      ) { _ in
        try await eventually("all are worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      }
      #expect(asked.withLock { $0 } == 2)
      #expect(try await queue.allEvents().sorted() == ["e-a", "e-b", "e-c", "seen-1", "seen-2"])
      let last = try await queue.delivery(queue.deliveryID(for: request("a", copy: "4", order: "one")))
      #expect(last?.state == .rejected && last?.reason == "conflict")
    }
  }

  @Test func `Workers share the shards, and one that stops leaves its shards to the others`() async throws {
    try await withQueue { queue, _ in
      try await working(queue) { first in
        try await eventually("one owns all") { first.owned == Shard.count }
        try await working(queue) { second in
          try await eventually("both own their shares") {
            first.owned + second.owned == Shard.count && second.owned > 50 && first.owned > 50
          }
          for number in 0..<200 { _ = try await queue.accept(request("m\(number)")) }
        }
        try await eventually("one owns all again") { first.owned == Shard.count }
        try await eventually("all are worked") { try await queue.allEvents().count == 200 }
      }
    }
  }

  @Test func `The shards of a dead worker are taken over after its heartbeat timeout, and the starts of its messages are counted`()
    async throws
  {
    try await withQueue({ $0.workerTimeout = .milliseconds(500) }) { queue, _ in
      for number in 0..<5 { _ = try await queue.accept(request("m\(number)", order: "one")) }
      let shard = queue.deliveryID(for: request("m0", order: "one")).shard
      let ghost = ShardOwnership(text: "")
      guard case .own(let held, nil) = try await ghost.take(.intake, shard, for: "ghost", isAbandoned: false, queue) else {
        return #expect(Bool(false), "not taken")
      }
      _ = try await queue.run(Scripts.beat, [Keys.workers(.intake)], ["ghost", 60_000])
      let attempts = Mutex<[Int]>([])
      try await working(
        queue,
        handler: { lease in
          attempts.withLock { $0.append(lease.attempt) }
          return await Self.verifying(lease)
        }
      ) { worker in
        try await eventually("it is taken over") { try await queue.allEvents().count == 5 }
        let now = try await ShardOwnership.read(.intake, shard, queue)
        #expect(now.owner.map(String.init) == worker.name)
        #expect(now.text.hasPrefix("2 "))
      }
      // The dead worker may have begun each message.
      #expect(attempts.withLock { $0 } == [2, 2, 2, 2, 2])
      let suspects = try await queue.send(["HKEYS", .string(Keys.suspects(.intake, shard))]).array ?? []
      #expect(suspects.allSatisfy { $0.string == "until" })
      // Requests of the dead worker are refused.
      let reply = try await queue.run(Scripts.disown, [Keys.ownership(.intake, shard)], [.string(held.text)])
      #expect(reply.integer == 0)
    }
  }

  @Test func `A message that crashes its workers becomes a dead letter, and others do not`() async throws {
    try await withQueue({
      $0.lease = .milliseconds(200)
      $0.workerTimeout = .milliseconds(200)
      $0.maxDeliveries = 3
    }) { queue, _ in
      for name in ["a", "poison", "b"] { _ = try await queue.accept(request(name, order: "one")) }
      let shard = queue.deliveryID(for: request("a", order: "one")).shard
      let begun = Mutex(0)
      // Each worker dies like a process: it owns the shard, settles nothing and sends nothing any more.
      for number in 0..<6 where try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 0 {
        let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random()) { lease in
          let name = lease.message.attributes["natural"] ?? ""
          guard name == "poison" else { return .complete(verified(name)) }
          begun.withLock { $0 += 1 }
          try? await Task.sleep(for: .seconds(3600))
          return .giveBack
        }
        let run = Task { await worker.run() }
        try await eventually("it begins, or gives up") {
          let dead = try await QueueAdministration(deliveries: queue).snapshot(.intake).dead
          return begun.withLock { $0 } > number || dead == 1
        }
        guard begun.withLock({ $0 }) > number else {
          worker.stop()
          await run.value
          break
        }
        // Another worker takes over without knowing how the former one ended.
        let before = try await ShardOwnership.read(.intake, shard, queue)
        _ = try await before.take(.intake, shard, for: "ghost-\(number)", isAbandoned: true, queue)
        run.cancel()
        await run.value
      }
      #expect(begun.withLock { $0 } == 3)
      try await working(queue) { _ in
        try await eventually("the others are worked") { try await queue.allEvents().sorted() == ["e-a", "e-b"] }
      }
      let letter = try #require(try await QueueAdministration(deliveries: queue).deadLetters(.intake, limit: 10).first)
      #expect(letter.lastError.hasPrefix("its worker ended"))
    }
  }

  @Test(arguments: StoreForm.allCases)
  func `A worker that starts while Redis is full takes its shards and processes their messages`(form: StoreForm) async throws {
    try await withQueue { queue, _ in
      try await FormSwitchTests.set(form, queue)
      for number in 0..<20 { _ = try await queue.accept(request("m\(number)")) }
      _ = try await queue.send(["CONFIG", "SET", "maxmemory", "1mb"])
      try await working(queue) { worker in
        try await eventually("all are worked") { try await queue.allEvents().count == 20 }
        try await eventually("it owns all") { worker.owned == Shard.count }
      }
      await #expect(throws: QueueError.self) { _ = try await queue.accept(request("more")) }
    }
  }

  @Test func `A paused queue is not processed, and continues when resumed`() async throws {
    try await withQueue { queue, _ in
      let administration = QueueAdministration(deliveries: queue)
      try await administration.pause(.intake)
      try await working(queue) { worker in
        try await eventually("it owns all") { worker.owned == Shard.count }
        for number in 0..<20 { _ = try await queue.accept(request("m\(number)")) }
        try await Task.sleep(for: .milliseconds(600))
        #expect(try await queue.allEvents().isEmpty)
        try await administration.resume(.intake)
        try await eventually("it goes on") { try await queue.allEvents().count == 20 }
      }
    }
  }

  @Test func `A failed query of the pause flag does not reduce the reading limit`() async throws {
    try await withQueue { queue, server in
      // Each order key has more messages than are read together, and all shards together exceed the reading limit of an event loop.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for line in 0..<64 {
          group.addTask {
            for number in 0..<128 { _ = try await queue.accept(request("\(line):\(number)", order: "line \(line)")) }
          }
        }
        try await group.waitForAll()
      }
      let redis = try await server.client()
      let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .computing) { _ in
        try? await Task.sleep(for: .milliseconds(1))
        return .deadLetter(error: "no")
      }
      let run = Task { await worker.run() }
      for _ in 0..<3 {
        try await Task.sleep(for: .milliseconds(400))
        try await redis.send(["ACL", "SETUSER", "default", "-exists"])
        try await Task.sleep(for: .milliseconds(600))
        try await redis.send(["ACL", "SETUSER", "default", "+exists"])
      }
      try await eventually("all are worked") { try await QueueAdministration(deliveries: queue).snapshot(.intake).depth == 0 }
      worker.stop()
      await run.value
      #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 64 * 128)
    }
  }

  @Test func `Workers keep their shards after Redis was unreachable for longer than their timeout`() async throws {
    try await withQueue({ $0.workerTimeout = .seconds(2) }) { queue, server in
      let reclaimed = Mutex(0)
      let workers = (0..<2).map { _ in
        ShardWorker(
          queue: .intake, deliveries: queue, pace: .computing,
          observe: { if case .reclaimed(let count) = $0 { reclaimed.withLock { $0 += count } } }, handler: Self.verifying)
      }
      let runs = workers.map { worker in Task { await worker.run() } }
      try await eventually("each has its share") { workers.allSatisfy { $0.owned == share(of: $0, among: workers) } }
      let before = reclaimed.withLock { $0 }
      await server.kill()
      try await Task.sleep(for: .milliseconds(2500))
      try server.start()
      try await eventually("Redis takes in again") { (try? await queue.accept(request("after"))) != nil }
      try await Task.sleep(for: .seconds(3))
      #expect(reclaimed.withLock { $0 } == before)
      #expect(workers.reduce(0) { $0 + $1.owned } == Shard.count)
      try await eventually("it is worked") { try await queue.allEvents() == ["e-after"] }
      for worker in workers { worker.stop() }
      for run in runs { await run.value }
    }
  }

  @Test func `Shards are handed over even if Redis was unreachable meanwhile`() async throws {
    try await withQueue({ $0.workerTimeout = .seconds(2) }) { queue, server in
      try await working(queue) { first in
        try await eventually("it owns all") { first.owned == Shard.count }
        for _ in 0..<4 {
          try await working(queue) { second in
            try await eventually("shards change hands") { first.owned < Shard.count }
            await server.kill()
            try server.start()
            try await eventually("each has its share") {
              [first, second].allSatisfy { $0.owned == share(of: $0, among: [first, second]) }
            }
          }
          try await eventually("the first owns all again") { first.owned == Shard.count }
        }
      }
    }
  }

  @Test func `Messages stay in order while some are retried and workers join and leave`() async throws {
    try await withQueue({ $0.backoffCap = .milliseconds(20) }) { queue, _ in
      let worked = Mutex<[String: [Int]]>([:])
      let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
        .inOrder {
          let parts = (lease.message.attributes["natural"] ?? "").split(separator: ":")
          if Int.random(in: 0..<4) == 0 { return .retry(after: .milliseconds(.random(in: 0...10)), error: "again") }
          worked.withLock { $0[String(parts[0]), default: []].append(Int(parts[1]) ?? -1) }
          return .complete(Completion(state: .done, events: []))
        }
      }
      try await working(queue, handler: handler) { _ in
        for number in 0..<40 {
          for line in 0..<8 { _ = try await queue.accept(request("l\(line):\(number)", order: "l\(line)", keepsOrder: true)) }
          if number == 20 {
            try await working(queue, handler: handler) { second in
              try await eventually("it has a share") { second.owned > 20 }
            }
          }
        }
        try await eventually("all are worked") { worked.withLock { $0.values.reduce(0) { $0 + $1.count } } >= 320 }
      }
      for line in 0..<8 { #expect(worked.withLock { $0["l\(line)"] } == Array(0..<40)) }
    }
  }

  @Test func `Nothing is lost or counted twice while Redis is killed and workers are stopped at random`() async throws {
    let redis = try RedisServer()
    let queue = try await redis.queue {
      $0.lease = .milliseconds(800)
      $0.workerTimeout = .milliseconds(800)
      $0.backoffCap = .milliseconds(20)
    }
    let isRunning = Flag(true)
    let handler: @Sendable (LeasedMessage) async -> WorkOutcome = { lease in
      if Int.random(in: 0..<10) == 0 { return .retry(after: .milliseconds(.random(in: 0...20)), error: "again") }
      return .complete(verified(lease.message.attributes["natural"] ?? ""))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          while isRunning.value {
            let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: handler)
            let task = Task { await worker.run() }
            try await Task.sleep(for: .milliseconds(.random(in: 300...1500)))
            if Bool.random() { worker.stop() } else { task.cancel() }
            await task.value
          }
        }
      }
      for number in 0..<600 {
        let delivery = request("m\(number % 500)", copy: "\(number)")
        while (try? await queue.accept(delivery)) == nil { try await Task.sleep(for: .milliseconds(20)) }
        if number % 150 == 149 {
          await redis.kill()
          try await Task.sleep(for: .milliseconds(200))
          try redis.start()
        }
        try await Task.sleep(for: .milliseconds(4))
      }
      isRunning.value = false
      try await group.waitForAll()
    }
    try await working(queue) { _ in
      try await eventually("all are worked") {
        let now = try await QueueAdministration(deliveries: queue).snapshot(.intake)
        return now.depth + now.delayed == 0
      }
    }
    let events = try await queue.allEvents()
    #expect(events.count == 500)
    #expect(Set(events).count == 500)
    #expect(try await QueueAdministration(deliveries: queue).snapshot(.intake).dead == 0)
  }
}

private final class Flag: Sendable {
  private let state: Mutex<Bool>
  init(_ value: Bool) { state = Mutex(value) }
  var value: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
