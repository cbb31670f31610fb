import Foundation
import Logging
import RedisClient
import RedisTestSupport
import Synchronization
import Testing

@testable import AttributionQueue

/// A Redis for one test. Every write is on disk before it is answered.
final class RedisServer: Sendable {
  private let process: RedisProcess

  /// The port on 127.0.0.1; 0 if there is none.
  let port: Int

  /// - Parameters:
  ///   - settings: further arguments of redis-server.
  ///   - port: true if it also listens on a port, for its replicas.
  ///   - cluster: true for a Redis Cluster of this one node; it listens on a port too.
  init(_ settings: [String] = [], appendOnly: String = "yes", port listens: Bool = false, cluster: Bool = false) throws {
    // The bus of a cluster has the port that is greater by 10,000.
    port = cluster ? Int.random(in: 30_000..<50_000) : listens ? Int.random(in: 30_000..<60_000) : 0
    process = try RedisProcess(
      [
        "--port", String(port), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0", "--appendonly", appendOnly, "--appendfsync",
        "always", "--auto-aof-rewrite-percentage", "0", "--cluster-enabled", cluster ? "yes" : "no",
      ] + settings)
  }

  func start() throws { try process.start() }
  func kill() async { await process.kill() }
  func remove() async { await process.remove() }
  func suspend(while body: () async throws -> Void) async rethrows { try await process.suspend(while: body) }

  /// Returns a client once Redis answers.
  func client() async throws -> RedisClient { try await process.readyClient() }

  /// A queue with a client of its own, whose commands have that timeout.
  func queue(commandTimeout: Duration? = nil, _ adjust: (inout QueueConfiguration) -> Void = { _ in }) async throws -> DeliveryQueue {
    var configuration = QueueConfiguration()
    adjust(&configuration)
    // Until Redis answers.
    try await client().close()
    let client = try process.client { $0.commandTimeout = commandTimeout ?? $0.commandTimeout }
    return try await DeliveryQueue.open(redis: client, configuration: configuration, logger: quietLogger)
  }

  /// Gives all slots to this node, and returns a client that uses it as a cluster.
  func clusterClient() async throws -> RedisClient {
    let node = try await client()
    _ = try await node.send(["CLUSTER", "ADDSLOTSRANGE", "0", "16383"])
    try await eventually("the cluster is complete") {
      try await node.send(["CLUSTER", "INFO"]).string?.contains("cluster_state:ok") == true
    }
    node.close()
    return RedisClient(url: try RedisURL("redis-cluster://127.0.0.1:\(port)"), logger: quietLogger)
  }
}

let quietLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Runs the body with a queue on a fresh Redis.
func withQueue(
  _ configure: (inout QueueConfiguration) -> Void = { _ in },
  _ body: (DeliveryQueue, RedisServer) async throws -> Void
) async throws {
  var configuration = QueueConfiguration()
  configure(&configuration)
  let server = try RedisServer()
  do {
    let client = try await server.client()
    let queue = try await DeliveryQueue.open(redis: client, configuration: configuration, logger: quietLogger)
    try await body(queue, server)
    client.close()
  } catch {
    await server.remove()
    throw error
  }
  await server.remove()
}

/// Waits for a condition for up to four minutes, because a slow machine runs a hundred other tests at the same time.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
  let until = ContinuousClock.now + .seconds(240)
  while ContinuousClock.now < until {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  Issue.record("not in time: \(what)")
}

/// A request with the natural key `natural`. `copy` makes its bytes differ.
func request(
  _ natural: String, copy: String = "", order: String? = nil, keepsOrder: Bool = false, notBefore: Int64? = nil,
  queue: QueueName = .intake
) -> AcceptRequest {
  AcceptRequest(
    queue: queue, idempotencyKey: natural + "/" + copy, orderKey: order, naturalKey: natural, keepsOrder: keepsOrder,
    message: QueueMessage(
      kind: "test", body: Array((natural + "/" + copy).utf8), attributes: ["natural": natural],
      receivedAt: DeliveryQueue.now, source: "public", traceparent: "tp", requestId: "r"),
    notBefore: notBefore)
}

/// The outcome of a genuine message: one event under its natural key.
func verified(_ natural: String) -> Completion {
  Completion(
    state: .verified, naturalKey: natural,
    events: [EventRecord(id: "e-" + natural, type: "t.a", json: Array("{\"id\":\"e-\(natural)\"}".utf8))])
}

/// The result of completing a leased message.
enum CompletionOutcome: Int64 {
  /// The natural key was counted before, so no event was written.
  case naturalKeySeen = 0
  case completed = 1
  /// The natural key was counted before, and the message is still leased.
  case held = 2
}

extension DeliveryQueue {
  /// Leases all ready messages without renewing the leases, as a worker that dies later.
  func leaseAll(_ consumer: String, _ queue: QueueName = .intake) async throws -> [LeasedMessage] {
    var leases: [LeasedMessage] = []
    for shard in Shard.all {
      guard try await send(["EXISTS", .string(Keys.ready(queue, shard))]).integer == 1 else { continue }
      let made = try await redis.sendAllowingErrors(
        ["XGROUP", "CREATE", .string(Keys.ready(queue, shard)), .string(Self.group), "0"])
      if made.error != nil {
        // A former owner has left the position of the group behind all entries.
        for info in try await send(["XINFO", "GROUPS", .string(Keys.ready(queue, shard))]).array ?? []
        where EventFeed.fields(info)["last-delivered-id"]?.string == EntryID.greatest.text {
          _ = try await send(["XGROUP", "SETID", .string(Keys.ready(queue, shard)), .string(Self.group), "0"])
        }
      }
      let reply = try await send([
        "XREADGROUP", "GROUP", .string(Self.group), .string(consumer), "STREAMS", .string(Keys.ready(queue, shard)),
        ">",
      ])
      for entry in reply.array?.first?.array?.last?.array ?? [] {
        leases.append(try Self.lease(entry.array?[0], entry.array?[1], 1, queue, consumer))
      }
    }
    return leases
  }

  /// The number of leased messages.
  func leased(_ queue: QueueName = .intake) async throws -> Int64 {
    var count: Int64 = 0
    for shard in Shard.all {
      let reply = try await redis.sendAllowingErrors(["XPENDING", .string(Keys.ready(queue, shard)), .string(Self.group)])
      count += reply.array?.first?.integer ?? 0
    }
    return count
  }

  /// Takes over messages that were idle for `idle` milliseconds.
  func reclaimAll(_ consumer: String, idle: Int64 = 0, _ queue: QueueName = .intake) async throws -> [LeasedMessage] {
    var leases: [LeasedMessage] = []
    for shard in Shard.all {
      guard try await send(["EXISTS", .string(Keys.ready(queue, shard))]).integer == 1 else { continue }
      let reply = try await run(
        Scripts.reclaim, [Keys.ready(queue, shard)], [.string(Self.group), .string(consumer), .integer(idle), 16])
      for item in reply.array?.last?.array ?? [] {
        leases.append(
          try Self.lease(item.array?[0], item.array?[1], item.array?[2].integer ?? 0, queue, consumer))
      }
    }
    return leases
  }

  /// Settles leased messages of one shard in one step. The result is nil for a message whose lease is lost.
  func complete(_ work: [(lease: LeasedMessage, completion: Completion)], now: [Int64] = []) async throws -> [CompletionOutcome?] {
    var call = CommitBatch(work[0].lease.queue, work[0].lease.shard, expectedCount: work.count, self)
    for (place, (lease, completion)) in work.enumerated() {
      call.complete(lease, completion, now: now.isEmpty ? Self.now : now[place])
    }
    return try await settle(call, work[0].lease.consumer)
  }

  /// Settles one leased message. Throws if the lease is lost.
  @discardableResult
  func complete(_ lease: LeasedMessage, _ completion: Completion) async throws -> CompletionOutcome {
    guard let outcome = try await complete([(lease, completion)])[0] else { throw QueueError.leaseLost }
    return outcome
  }

  /// Settles a leased message by a handler's outcome. Returns the label of the result in metrics.
  @discardableResult
  func settle(_ lease: LeasedMessage, _ outcome: WorkOutcome) async throws -> String {
    let words = Mutex<[String]>([])
    let settlement = Settlement(queue: lease.queue, deliveries: self) {
      if case .processed(let word, _, _, _) = $0 { words.withLock { $0.append(word) } }
    }
    var call = CommitBatch(lease.queue, lease.shard, expectedCount: 1, self)
    await settlement.add(lease, outcome, to: &call, started: .now)
    try await settlement.commit(call, as: .consumer(lease.consumer))
    guard let word = words.withLock(\.first) else { throw QueueError.leaseLost }
    return word
  }

  func retry(_ lease: LeasedMessage, after delay: Duration, error: String) async throws {
    try await settle(lease, .retry(after: delay, error: error))
  }

  func deadLetter(_ lease: LeasedMessage, error: String) async throws { try await settle(lease, .deadLetter(error: error)) }

  /// Gives the message back, and returns when it is ready again.
  func release(_ lease: LeasedMessage) async throws {
    try await settle(lease, .giveBack)
    let poller = DelayedPoller(queue: lease.queue, deliveries: self, blocking: redis)
    try await eventually("it is ready") {
      _ = try await poller.queryDue()
      let waits = try await send(["ZSCORE", .string(Keys.delayed(lease.queue, lease.shard)), .string(lease.deliveryID.description)])
      return waits.isNull
    }
  }

  /// Restarts the time of the lease.
  func renew(_ lease: LeasedMessage) async throws {
    let words: [RedisArgument] = [
      .string(Self.group), .string(lease.consumer), .string(lease.entryID), .integer(lease.deliveryCount),
    ]
    guard try await run(Scripts.renew, [Keys.ready(lease.queue, lease.shard)], words).integer == 1 else { throw QueueError.leaseLost }
  }

  private func settle(_ call: CommitBatch, _ consumer: String) async throws -> [CompletionOutcome?] {
    let reply = try await run(Scripts.commit, call.keys, call.arguments(.consumer(consumer)))
    return try #require(reply.array?[1].array).map { $0.integer.flatMap(CompletionOutcome.init) }
  }

  private static func lease(
    _ entry: RedisReply?, _ words: RedisReply?, _ count: Int64, _ queue: QueueName, _ consumer: String
  ) throws -> LeasedMessage {
    try #require(
      LeasedMessage(
        queue: queue, entryID: entry?.string ?? "", fields: words ?? .null, deliveryCount: count, consumer: consumer))
  }

  /// The ids of all events, by shard.
  func allEvents() async throws -> [String] {
    var ids: [String] = []
    for shard in Shard.all {
      for entry in try await send(["XRANGE", .string(Keys.events(shard)), "-", "+"]).array ?? [] {
        ids.append(EventFeed.fields(entry.array?[1] ?? .null)["i"]?.string ?? "")
      }
    }
    return ids
  }

  /// Runs a worker while the body runs.
  func working(
    _ queue: QueueName = .intake, handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome,
    while body: () async throws -> Void
  ) async throws {
    let worker = ShardWorker(queue: queue, deliveries: self, pace: .random(), handler: handler)
    let run = Task { await worker.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    worker.stop()
    await run.value
    try result.get()
  }
}

extension ShardWorker.Pace {
  static func random() -> ShardWorker.Pace { [.computing, .waiting(shards: 256), .waiting(shards: 3)].randomElement() ?? .computing }
}
