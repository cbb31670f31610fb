import EventLoops
import NIOCore
import RedisClient
import Synchronization

/// Settles plain batches of an event loop's shards by transactions (``CommitTransaction``). Batches that arrive while a transaction runs
/// are settled together by the next one (group commit), so that under load many shards share one transaction and one fsync.
///
/// For each plain batch, ``Settlement`` first calls ``beginScriptCommit(_:)``. If that returns true, commit_plain.lua settles the batch;
/// otherwise ``settle(_:)`` does.
final class GroupCommit: Sendable {
  private struct Waiting {
    let batch: PlainBatch
    let continuation: CheckedContinuation<Result<PlainBatch.Outcome, QueueError>, Never>
  }

  private struct State {
    var waiting = CircularBuffer<Waiting>()
    /// The number of messages in the batches that wait.
    var waitingMessages = 0
    /// Connections without a running transaction. Each runs one at a time, as `WATCH` requires.
    var idle: [RedisClient]
    /// Until this time, no transaction is started, and scripts settle every batch.
    var resumesAt = ContinuousClock.now
    /// The number of small batches that commit_plain.lua is settling now.
    var scriptCommits = 0
    /// True after Redis refused a transaction because the user may not use its commands, and this was logged.
    var isRefused = false
  }

  /// A batch with fewer messages is small: commit_plain.lua settles it in one round trip, a transaction in two.
  static let minMessages = 8
  /// While commit_plain.lua is settling this many small batches, transactions settle further small batches together.
  private static let maxScriptCommits = 4
  /// The maximum number of transactions of an event loop that run at the same time.
  private static let maxConnections = 8
  /// Up to this many transactions start as soon as a batch waits. Further ones start only when enough messages wait to fill a transaction.
  private static let immediateTransactions = 2
  /// The maximum number of messages of a transaction. Redis executes nothing else meanwhile.
  private static let maxMessages = 128
  /// How long scripts settle every batch after a transaction failed for a temporary reason.
  private static let shortPause: Duration = .seconds(1)
  /// The same if the reason lasts until Redis' configuration is changed, or is permanent, as in a cluster.
  private static let longPause: Duration = .seconds(60)

  private let deliveries: DeliveryQueue
  private let executor: EventLoopExecutor
  private let connections: [RedisClient]
  private let state: Mutex<State>

  /// - Parameter number: the number of the event loop.
  init(_ deliveries: DeliveryQueue, _ executor: EventLoopExecutor, number: Int) {
    self.deliveries = deliveries
    self.executor = executor
    connections = (0..<Self.maxConnections).map { _ in deliveries.redis.dedicated(commandTimeout: .seconds(5), loop: number) }
    state = Mutex(State(idle: connections))
  }

  func close() { for connection in connections { connection.close() } }

  /// True if further small batches are settled together, by transactions.
  var isBusy: Bool { state.withLock { $0.scriptCommits >= Self.maxScriptCommits } }

  /// Returns true if the caller must settle the batch by commit_plain.lua and then call ``endScriptCommit()``.
  func beginScriptCommit(_ batch: PlainBatch) -> Bool {
    guard batch.items.count < Self.minMessages else { return false }
    return state.withLock { state in
      guard state.scriptCommits < Self.maxScriptCommits else { return false }
      state.scriptCommits += 1
      return true
    }
  }

  func endScriptCommit() { state.withLock { $0.scriptCommits -= 1 } }

  /// Settles a batch, together with others that wait. Throws ``QueueError/unavailable(_:)`` if it is not known whether the batch was
  /// settled.
  func settle(_ batch: PlainBatch) async throws(QueueError) -> PlainBatch.Outcome {
    guard isUsable else { return .notTried }
    let result = await withCheckedContinuation { continuation in
      let idle: RedisClient? = state.withLock { state in
        state.waiting.append(Waiting(batch: batch, continuation: continuation))
        state.waitingMessages += batch.items.count
        let busy = connections.count - state.idle.count
        return busy < Self.immediateTransactions || state.waitingMessages >= Self.maxMessages ? state.idle.popLast() : nil
      }
      if let idle { Task(executorPreference: executor) { await self.run(idle) } }
    }
    return try result.get()
  }

  private var isUsable: Bool { state.withLock { .now >= $0.resumesAt } }

  /// Runs transactions on a connection until no batch waits.
  private func run(_ connection: RedisClient) async {
    while let group = next(connection) {
      let results = await commit(group.map(\.batch), connection)
      for (waiting, result) in zip(group, results) { waiting.continuation.resume(returning: result) }
    }
  }

  /// The batches of the next transaction. Nil if none waits: then the connection is idle again.
  private func next(_ connection: RedisClient) -> [Waiting]? {
    state.withLock { state in
      var group: [Waiting] = []
      var messages = 0
      while let first = state.waiting.first, group.isEmpty || messages + first.batch.items.count <= Self.maxMessages {
        messages += first.batch.items.count
        group.append(state.waiting.removeFirst())
      }
      state.waitingMessages -= messages
      guard group.isEmpty else { return group }
      state.idle.append(connection)
      return nil
    }
  }

  private func commit(_ batches: [PlainBatch], _ connection: RedisClient) async -> [Result<PlainBatch.Outcome, QueueError>] {
    let untried = [Result<PlainBatch.Outcome, QueueError>](repeating: .success(.notTried), count: batches.count)
    let transaction = CommitTransaction(batches: batches)
    // Nothing is changed until the commands are sent.
    let session: RedisSession
    do throws(RedisError) {
      guard let opened = try await connection.session() else {
        pause(for: Self.longPause)
        return untried
      }
      session = opened
    } catch { return untried }
    guard let replies = try? await session.send(transaction.checks, name: "commit_questions") else { return untried }
    let findings: [CommitTransaction.Finding]
    switch transaction.findings(replies) {
    case .found(let found): findings = found
    case .keepsOriginals:
      pause(for: Self.shortPause)
      return untried
    case .refused(let text):
      noteRefusal(text)
      return untried
    case .unreadable: return untried
    }
    guard let commands = transaction.commands(findings) else { return batches.map { _ in .success(.needsCommit) } }
    do throws(QueueError) {
      let replies: [RedisReply]
      do throws(RedisError) {
        replies = try await session.send(commands, ignoring: commands.count - 1, name: "commit_transaction")
      } catch {
        throw .unavailable(error)
      }
      guard let reply = replies.first else { throw .unavailable(.unexpectedReply("EXEC")) }
      switch try transaction.execution(reply, findings) {
      case .conflict: return untried
      case .refused(let text):
        noteRefusal(text)
        return untried
      case .executed(let outcomes): return await finish(batches, outcomes)
      }
    } catch {
      return [Result<PlainBatch.Outcome, QueueError>](repeating: .failure(error), count: batches.count)
    }
  }

  private func finish(_ batches: [PlainBatch], _ outcomes: [CommitTransaction.BatchOutcome]) async -> [Result<
    PlainBatch.Outcome, QueueError
  >] {
    var results: [Result<PlainBatch.Outcome, QueueError>] = []
    let seconds = deliveries.configuration.deliveryRecordTTL.wholeSeconds
    for (batch, outcome) in zip(batches, outcomes) {
      switch outcome {
      case .needsScript: results.append(.success(.needsCommit))
      case .incomplete:
        deliveries.logger.error(
          "Redis refused some commands of a transaction: events of these deliveries may be missing",
          metadata: ["deliveries": "\(batch.items.map(\.deliveryID.description).joined(separator: " "))"])
        results.append(.failure(.unavailable(.unexpectedReply("EXEC"))))
      case .settled(let remaining, let expired):
        for item in expired {
          _ = try? await deliveries.send(["SET", .string(Keys.delivery(item.deliveryID)), .bytes(item.record), "EX", .integer(seconds)])
        }
        results.append(.success(.settled(remaining: remaining)))
      }
    }
    return results
  }

  private func pause(for time: Duration) { state.withLock { $0.resumesAt = .now + time } }

  /// Pauses transactions, and logs once if Redis refuses them permanently.
  private func noteRefusal(_ text: String) {
    // Other refusals are temporary: a replica has taken over, or Redis loads its data or has no memory left.
    guard text.contains("NOPERM") || text.contains("unknown command") || text.contains("permissions") else {
      return pause(for: Self.shortPause)
    }
    pause(for: Self.longPause)
    let isFirst = state.withLock { state in
      defer { state.isRefused = true }
      return !state.isRefused
    }
    if isFirst {
      deliveries.logger.warning("Redis refuses transactions: scripts settle every message instead", metadata: ["reason": "\(text)"])
    }
  }
}
