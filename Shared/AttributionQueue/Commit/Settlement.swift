import Logging
import RedisClient

/// Settles messages that a worker holds: runs `commit` with the handlers' decisions, then updates metrics, logs and spans.
struct Settlement: Sendable {
  /// The delay before a message that was given back is processed again.
  static let handOver: Duration = .milliseconds(50)

  let queue: QueueName
  let deliveries: DeliveryQueue
  let observe: @Sendable (WorkObservation) -> Void
  /// Runs the work of deferred messages. Nil in a worker that processes each message on its own: there the work is awaited, because it
  /// blocks no other message.
  var deferred: DeferredWork?
  /// Counts finished messages.
  var counter: DeliveryCounter?
  private let originals = OriginalsPause()

  init(
    queue: QueueName, deliveries: DeliveryQueue, observe: @escaping @Sendable (WorkObservation) -> Void, deferred: DeferredWork? = nil,
    counter: DeliveryCounter? = nil
  ) {
    self.queue = queue
    self.deliveries = deliveries
    self.observe = observe
    self.deferred = deferred
    self.counter = counter
  }

  /// A stream entry that was read.
  enum ReadEntry {
    case message(LeasedMessage)
    case unreadable(UnreadableEntry, begun: Int64)
    /// Its workers ended too often without finishing it.
    case begunTooOften(LeasedMessage, begun: Int64)

    /// The message, if it is to be handled.
    var message: LeasedMessage? {
      if case .message(let message) = self { message } else { nil }
    }
  }

  /// Reads a stream entry.
  ///
  /// - Parameters:
  ///   - begun: how often the message was started or delivered, including this time.
  ///   - consumer: the worker that leased it; empty if the shard is owned.
  ///   - kindBefore: see ``LeasedMessage``.
  func read(
    _ entryID: String, _ fields: RedisReply, begun: Int64, consumer: String, kindBefore: String = "", shard: Shard
  ) -> ReadEntry {
    guard
      let message = LeasedMessage(
        queue: queue, entryID: entryID, fields: fields, deliveryCount: begun, consumer: consumer, kindBefore: kindBefore,
        tracer: deliveries.tracer),
      message.shard == shard
    else { return .unreadable(UnreadableEntry(entryID: entryID, fields: fields), begun: begun) }
    return begun > deliveries.configuration.maxDeliveries ? .begunTooOften(message, begun: begun) : .message(message)
  }

  /// Adds an entry that is not handled to the batch, as a dead letter.
  func addDeadLetter(_ entry: ReadEntry, isSuspected: Bool = false, started: ContinuousClock.Instant, to batch: inout CommitBatch) {
    switch entry {
    case .message: break
    case .unreadable(let entry, let begun): batch.addDeadLetter(entry, delivered: begun, started: started)
    case .begunTooOften(let message, let begun):
      batch.addDeadLetter(
        message, error: "its worker ended \(begun - 1) times without finishing it", isSuspected: isSuspected, started: started)
    }
  }

  /// Reads a stream entry. If it is not to be handled, it is added to the batch as a dead letter, and nil is returned.
  func message(
    _ entryID: String, _ fields: RedisReply, begun: Int64, consumer: String, in batch: inout CommitBatch
  ) -> LeasedMessage? {
    let read = read(entryID, fields, begun: begun, consumer: consumer, shard: batch.shard)
    addDeadLetter(read, started: .now, to: &batch)
    return read.message
  }

  /// Adds a handler's decision to the batch. After the last attempt, a retry without a stated delay becomes a dead letter. A retry with one
  /// never does.
  ///
  /// - Parameter isOrdered: true if the message is verified and keeps its order.
  func add(
    _ message: LeasedMessage, _ outcome: consuming WorkOutcome, to batch: inout CommitBatch, isSuspected: Bool = false,
    isOrdered: Bool = false, started: ContinuousClock.Instant
  ) async {
    func addDeadLetter(_ error: String, in batch: inout CommitBatch) {
      batch.addDeadLetter(message, error: error, isSuspected: isSuspected, isOrdered: isOrdered, started: started)
    }
    func delay(
      _ delay: Duration, error: String? = nil, word: String = CommitBatch.waiting, meanwhile: (@Sendable () async -> Void)? = nil,
      in batch: inout CommitBatch
    ) {
      batch.delay(
        message, delay, error: error, word: word, isSuspected: isSuspected, isOrdered: isOrdered, meanwhile: meanwhile, started: started)
    }
    switch consume outcome {
    case .complete(let completion):
      batch.complete(
        message, completion, isSuspected: isSuspected, isOrdered: isOrdered, started: started, now: DeliveryQueue.now)
    case .retry(let after, let error):
      guard after != nil || message.attempt < deliveries.configuration.maxAttempts else { return addDeadLetter(error, in: &batch) }
      delay(
        after ?? deliveries.configuration.backoff(of: message.queue).wait(after: message.attempt), error: error, word: "retried", in: &batch
      )
    case .wait(let time): delay(time, in: &batch)
    case .giveBack: delay(Self.handOver, word: "given_back", in: &batch)
    case .deadLetter(let error): addDeadLetter(error, in: &batch)
    case .deferred(let limit, let work):
      guard deferred == nil else { return delay(limit, meanwhile: work, in: &batch) }
      await work()
      delay(.zero, in: &batch)
    case .inOrder(let apply):
      await add(message, message.traced(apply), to: &batch, isSuspected: isSuspected, isOrdered: isOrdered, started: started)
    }
  }

  /// Settles the batch. Returns how many messages are left in the stream. Throws ``QueueError/leaseLost`` if another worker owns the shard.
  ///
  /// - Parameter group: settles plain batches of 8 messages and more, and under load small ones too, by transactions of the same effect as
  ///   commit_plain.lua; that script is the one to read.
  @discardableResult
  func commit(_ batch: CommitBatch, as holder: CommitBatch.Holder, group: GroupCommit? = nil) async throws(QueueError) -> Int64 {
    if case .owner(let ownership) = holder, let plain = PlainBatch(batch, ownership) {
      var outcome = PlainBatch.Outcome.notTried
      if let group, !group.beginAlone(plain) {
        outcome = try await group.settle(plain)
        if outcome == .notTried { outcome = try await commitPlain(plain) }
      } else {
        defer { group?.endAlone() }
        outcome = try await commitPlain(plain)
      }
      if case .settled(let left) = outcome {
        report(batch, [Int64](repeating: 1, count: batch.works.count))
        return left
      }
    }
    return try await commitAny(batch, holder)
  }

  /// Settles a batch of a message that was announced and not read. Returns how many messages are left in the stream; nil if the message is
  /// not the first of the stream, because it was settled before. Then nothing was changed.
  func commitAnnounced(_ batch: CommitBatch, _ ownership: ShardOwnership, group: GroupCommit? = nil) async throws(QueueError) -> Int64? {
    if let plain = PlainBatch(batch, ownership) {
      let isCounted = group?.beginAlone(plain) == true
      defer { if isCounted { group?.endAlone() } }
      switch try await commitPlain(plain, isAnnounced: true) {
      case .settled(let left):
        report(batch, [Int64](repeating: 1, count: batch.works.count))
        return left
      case .notFirst:
        batch.endSpans(.leaseLost)
        return nil
      case .needsCommit, .keepsOriginals, .notTried: break
      }
    }
    let entries: RedisReply
    do throws(QueueError) {
      entries = try await deliveries.send(["XRANGE", .string(Keys.ready(queue, batch.shard)), "-", "+", "COUNT", "1"])
    } catch {
      batch.endSpans(error)
      throw error
    }
    guard isSame(entries.elements.first { _ in true }, as: batch.works.first) else {
      batch.endSpans(.leaseLost)
      return nil
    }
    return try await commitAny(batch, .owner(ownership))
  }

  /// True if the entry of the stream is the message that was announced. An announcement of a message that cannot be read is not trusted.
  private func isSame(_ entry: RedisReply?, as work: CommitBatch.Work?) -> Bool {
    guard let entry, let work, let announced = work.message else { return false }
    var parts = entry.elements
    guard parts.nextString() == work.entryID, let fields = parts.next(),
      let read = LeasedMessage(queue: queue, entryID: work.entryID, fields: fields, deliveryCount: 1, consumer: "")
    else { return false }
    return read.deliveryID == announced.deliveryID && read.message == announced.message && read.line == announced.line
      && read.attempt == announced.attempt
  }

  /// Settles the batch by commit_plain.lua. It does not wait for replicas: a failover that loses the step loses all of it, so the message is in
  /// the stream again and is handled again.
  private func commitPlain(_ batch: PlainBatch, isAnnounced: Bool = false) async throws(QueueError) -> PlainBatch.Outcome {
    guard originals.allows(batch) else { return .keepsOriginals }
    let commit = PlainCommit(batch, isAnnounced: isAnnounced)
    let reply = try await deliveries.run(Scripts.commitPlain, commit.keys, commit.arguments)
    guard let outcome = PlainCommit.outcome(reply) else { throw .unavailable(.unexpectedReply("commit_plain")) }
    if outcome == .keepsOriginals { originals.begin() }
    return outcome
  }

  /// Settles the batch by commit.lua.
  func commitAny(_ batch: CommitBatch, _ holder: CommitBatch.Holder) async throws(QueueError) -> Int64 {
    // The schedule is written before the message is delayed, so that a crash in between cannot make the message late.
    if let due = batch.due { try await deliveries.schedule(queue).note(batch.shard, due: due) }
    let reply = try await deliveries.run(Scripts.commit, batch.keys, batch.arguments(holder))
    var parts = reply.elements
    guard let holds = parts.next()?.integer else { throw .unavailable(.unexpectedReply("commit")) }
    guard holds == 1 else {
      for work in batch.works {
        observe(.leaseLost)
        work.message?.span?.end(error: QueueError.leaseLost.word)
      }
      throw .leaseLost
    }
    let outcomes = parts.next()?.elements.compactMap(\.integer) ?? []
    guard outcomes.count == batch.works.count, let left = parts.nextInteger() else { throw .unavailable(.unexpectedReply("commit")) }
    if let due = batch.due { deliveries.noteAgain(queue, batch.shard, due: due) }
    report(batch, outcomes)
    for (work, outcome) in zip(batch.works, outcomes) where outcome == 1 {
      if let meanwhile = work.meanwhile, let message = work.message { deferred?.begin(message.deliveryID, meanwhile) }
    }
    if batch.leavesDeadLetter { try? await DeadLetterLimit(queue: queue, deliveries: deliveries).enforce(batch.shard) }
    if outcomes.contains(2) { try await settleSeen(batch, outcomes, holder) }
    return left
  }

  /// Settles the messages whose natural key was claimed before, in a second commit: their handlers decide the outcome.
  private func settleSeen(_ batch: CommitBatch, _ outcomes: [Int64], _ holder: CommitBatch.Holder) async throws(QueueError) {
    var again = CommitBatch(queue, batch.shard, many: 1, isFirst: false, deliveries)
    for (work, outcome) in zip(batch.works, outcomes) where outcome == 2 {
      guard let message = work.message, let whenSeen = work.whenSeen else { continue }
      await add(
        message, message.traced(whenSeen), to: &again, isSuspected: work.isSuspected, isOrdered: work.isOrdered, started: work.started)
    }
    try await commit(again, as: holder)
  }

  /// Updates metrics, logs and spans of settled messages.
  private func report(_ batch: CommitBatch, _ outcomes: [Int64]) {
    let (instant, wall) = (ContinuousClock.now, DeliveryQueue.now)
    var ends: [(end: CountedOutcome, count: Int64)] = []
    var values: [CountedValue] = []
    if counter != nil { values.reserveCapacity(2 * batch.works.count) }
    // By index, because copying a `Work` is expensive.
    for place in batch.works.indices where outcomes[place] != 2 {
      let outcome = outcomes[place]
      guard outcome >= 0 else {
        observe(.leaseLost)
        batch.works[place].message?.span?.end(error: QueueError.leaseLost.word)
        continue
      }
      if let death = batch.works[place].death, outcome != 3 {
        let delivery = batch.works[place].message.map { "\($0.deliveryID)" } ?? "unknown"
        deliveries.logger.error(
          "a message became a dead letter",
          metadata: ["queue": "\(queue.rawValue)", "delivery": "\(delivery)", "reason": "\(death)"])
      }
      guard let message = batch.works[place].message else { continue }
      let word = outcome == 0 ? "duplicate" : outcome == 3 ? CommitBatch.waiting : batch.works[place].word
      message.span?.end(settledAs: word)
      if counter != nil, batch.works[place].isEnd, outcome != 3 {
        // Nearly all messages of a batch have the same outcome.
        let end =
          outcome == 0
          ? CountedOutcome(kind: message.message.kind, verdict: "duplicate")
          : CountedOutcome(kind: message.message.kind, verdict: word, reason: batch.works[place].reason)
        if ends.last?.end == end { ends[ends.count - 1].count += 1 } else { ends.append((end, 1)) }
        if outcome != 0 { values += batch.works[place].countedValues }
      }
      observe(
        .processed(
          outcome: word, seconds: batch.works[place].started.duration(to: instant) / .seconds(1),
          waitedSeconds: Double(wall - message.message.receivedAt) / 1000, span: message.span))
    }
    if !ends.isEmpty { counter?.add(ends, values, at: wall) }
  }
}
