import Logging
import RedisClient

/// Settles messages that a worker has leased or whose shard it owns: carries out the handlers' decisions, then updates metrics, logs and
/// spans.
///
/// The worker reads entries (``read(_:_:begun:consumer:kindBefore:shard:)``), calls the handler for each message, adds the outcomes to a
/// ``CommitBatch`` (``add(_:_:to:isSuspected:isOrdered:started:)``) and settles it (``commit(_:as:group:)``). A ``PlainBatch`` is settled
/// by commit_plain.lua or by a transaction (``GroupCommit``), every other batch by commit.lua.
struct Settlement: Sendable {
  /// The delay before a message that a handler gave back (``WorkOutcome/giveBack``) is processed again.
  static let giveBackDelay: Duration = .milliseconds(50)

  let queue: QueueName
  let deliveries: DeliveryQueue
  let observe: @Sendable (WorkObservation) -> Void
  /// Runs the work of deferred messages. Nil in a ``DeadlineWorker``, which awaits the work, because it blocks no other message there.
  var deferred: DeferredWork?
  /// Counts finished messages.
  var counter: DeliveryCounter?
  private let originals = OriginalsFlagCache()

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
    /// More workers than ``QueueConfiguration/maxDeliveries`` ended while they processed the message.
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
  ///   - consumer: the name of the worker that leased it; empty if the worker owns the shard.
  ///   - kindBefore: the kind of the entry before, whose string is reused if the kind is the same.
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

  /// Adds a handler's decision to the batch. After the last attempt, a message whose retry has no stated delay becomes a dead letter; a
  /// message whose retry states one never does.
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
      _ delay: Duration, error: String? = nil, label: String = CommitBatch.waiting, deferredWork: (@Sendable () async -> Void)? = nil,
      in batch: inout CommitBatch
    ) {
      batch.delay(
        message, delay, error: error, outcomeLabel: label, isSuspected: isSuspected, isOrdered: isOrdered, deferredWork: deferredWork,
        started: started)
    }
    switch consume outcome {
    case .complete(let completion):
      batch.complete(
        message, completion, isSuspected: isSuspected, isOrdered: isOrdered, started: started, now: DeliveryQueue.now)
    case .retry(let after, let error):
      guard after != nil || message.attempt < deliveries.configuration.maxAttempts else { return addDeadLetter(error, in: &batch) }
      delay(
        after ?? deliveries.configuration.backoff(of: message.queue).wait(after: message.attempt), error: error, label: "retried",
        in: &batch)
    case .wait(let time): delay(time, in: &batch)
    case .giveBack: delay(Self.giveBackDelay, label: "given_back", in: &batch)
    case .deadLetter(let error): addDeadLetter(error, in: &batch)
    case .deferred(let limit, let work):
      guard deferred == nil else { return delay(limit, deferredWork: work, in: &batch) }
      await work()
      delay(.zero, in: &batch)
    case .inOrder(let apply):
      await add(message, message.traced(apply), to: &batch, isSuspected: isSuspected, isOrdered: isOrdered, started: started)
    }
  }

  /// Settles the batch. Returns how many messages are left in the stream. Throws ``QueueError/leaseLost`` if another worker owns the shard.
  ///
  /// - Parameter group: settles plain batches of ``GroupCommit/minMessages`` messages and more, and under load smaller ones too, by
  ///   transactions with the same effect as commit_plain.lua. That script is the one to read.
  @discardableResult
  func commit(_ batch: CommitBatch, as holder: CommitBatch.Holder, group: GroupCommit? = nil) async throws(QueueError) -> Int64 {
    if case .owner(let ownership) = holder, let plain = PlainBatch(batch, ownership) {
      var outcome = PlainBatch.Outcome.notTried
      if let group, !group.beginScriptCommit(plain) {
        outcome = try await group.settle(plain)
        if outcome == .notTried { outcome = try await commitPlain(plain) }
      } else {
        defer { group?.endScriptCommit() }
        outcome = try await commitPlain(plain)
      }
      if case .settled(let remaining) = outcome {
        report(batch, [Int64](repeating: 1, count: batch.entries.count))
        return remaining
      }
    }
    return try await commitAnyBatch(batch, holder)
  }

  /// Settles a batch with one message, which accept.lua announced and the worker has not read from the stream. Returns how many messages
  /// are left in the stream. Returns nil, and changes nothing, if the message is not the first of the stream: it was settled before.
  func commitAnnounced(_ batch: CommitBatch, _ ownership: ShardOwnership, group: GroupCommit? = nil) async throws(QueueError) -> Int64? {
    if let plain = PlainBatch(batch, ownership) {
      let isCounted = group?.beginScriptCommit(plain) == true
      defer { if isCounted { group?.endScriptCommit() } }
      switch try await commitPlain(plain, isAnnounced: true) {
      case .settled(let remaining):
        report(batch, [Int64](repeating: 1, count: batch.entries.count))
        return remaining
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
    guard isSame(entries.elements.first { _ in true }, as: batch.entries.first) else {
      batch.endSpans(.leaseLost)
      return nil
    }
    return try await commitAnyBatch(batch, .owner(ownership))
  }

  /// True if the entry of the stream is the message that was announced; false if either cannot be read.
  private func isSame(_ streamEntry: RedisReply?, as entry: CommitBatch.Entry?) -> Bool {
    guard let streamEntry, let entry, let announced = entry.message else { return false }
    var parts = streamEntry.elements
    guard parts.nextString() == entry.entryID, let fields = parts.next(),
      let read = LeasedMessage(queue: queue, entryID: entry.entryID, fields: fields, deliveryCount: 1, consumer: "")
    else { return false }
    return read.deliveryID == announced.deliveryID && read.message == announced.message && read.line == announced.line
      && read.attempt == announced.attempt
  }

  /// Settles the batch by commit_plain.lua. The call does not wait for replicas: a failover that loses the script's writes loses all of
  /// them, so the messages are in the stream again and are handled again.
  private func commitPlain(_ batch: PlainBatch, isAnnounced: Bool = false) async throws(QueueError) -> PlainBatch.Outcome {
    guard originals.allows(batch) else { return .keepsOriginals }
    let commit = PlainCommit(batch, isAnnounced: isAnnounced)
    let reply = try await deliveries.run(Scripts.commitPlain, commit.keys, commit.arguments)
    guard let outcome = PlainCommit.outcome(reply) else { throw .unavailable(.unexpectedReply("commit_plain")) }
    if outcome == .keepsOriginals { originals.set() }
    return outcome
  }

  /// Settles the batch by commit.lua.
  func commitAnyBatch(_ batch: CommitBatch, _ holder: CommitBatch.Holder) async throws(QueueError) -> Int64 {
    // The schedule is written first: if this process crashes before the message is delayed, the shard is only queried once too often. In
    // the other order, the message would be late.
    if let due = batch.due { try await deliveries.schedule(queue).note(batch.shard, due: due) }
    let reply = try await deliveries.run(Scripts.commit, batch.keys, batch.arguments(holder))
    var parts = reply.elements
    guard let isOwner = parts.next()?.integer else { throw .unavailable(.unexpectedReply("commit")) }
    guard isOwner == 1 else {
      for entry in batch.entries {
        observe(.leaseLost)
        entry.message?.span?.end(error: QueueError.leaseLost.label)
      }
      throw .leaseLost
    }
    let outcomes = parts.next()?.elements.compactMap(\.integer) ?? []
    guard outcomes.count == batch.entries.count, let remaining = parts.nextInteger() else {
      throw .unavailable(.unexpectedReply("commit"))
    }
    if let dropped = parts.nextInteger(), dropped > 0 { observe(.rejectedBodiesDropped(Int(dropped))) }
    if let due = batch.due { deliveries.noteAgain(queue, batch.shard, due: due) }
    report(batch, outcomes)
    for (entry, outcome) in zip(batch.entries, outcomes) where outcome == 1 {
      if let work = entry.deferredWork, let message = entry.message { deferred?.begin(message.deliveryID, work) }
    }
    if batch.leavesDeadLetter { try? await DeadLetterLimit(queue: queue, deliveries: deliveries).enforce(batch.shard) }
    if outcomes.contains(2) { try await settleClaimedBefore(batch, outcomes, holder) }
    return remaining
  }

  /// Settles the messages whose natural key was claimed before, in a second commit: ``Completion/whenClaimedBefore`` decides their outcome.
  private func settleClaimedBefore(_ batch: CommitBatch, _ outcomes: [Int64], _ holder: CommitBatch.Holder) async throws(QueueError) {
    var again = CommitBatch(queue, batch.shard, expectedCount: 1, isFirst: false, deliveries)
    for (entry, outcome) in zip(batch.entries, outcomes) where outcome == 2 {
      guard let message = entry.message, let whenClaimedBefore = entry.whenClaimedBefore else { continue }
      await add(
        message, message.traced(whenClaimedBefore), to: &again, isSuspected: entry.isSuspected, isOrdered: entry.isOrdered,
        started: entry.started)
    }
    try await commit(again, as: holder)
  }

  /// Updates metrics, logs and spans of settled messages.
  ///
  /// - Parameter outcomes: the outcome of each message, as commit.lua returns it.
  private func report(_ batch: CommitBatch, _ outcomes: [Int64]) {
    let (instant, wall) = (ContinuousClock.now, DeliveryQueue.now)
    var counts: [(outcome: CountedOutcome, count: Int64)] = []
    var values: [CountedValue] = []
    if counter != nil { values.reserveCapacity(2 * batch.entries.count) }
    // By index, because copying an entry is expensive.
    for index in batch.entries.indices where outcomes[index] != 2 {
      let outcome = outcomes[index]
      guard outcome >= 0 else {
        observe(.leaseLost)
        batch.entries[index].message?.span?.end(error: QueueError.leaseLost.label)
        continue
      }
      if let error = batch.entries[index].deadLetterError, outcome != 3 {
        let delivery = batch.entries[index].message.map { "\($0.deliveryID)" } ?? "unknown"
        deliveries.logger.error(
          "a message became a dead letter",
          metadata: ["queue": "\(queue.rawValue)", "delivery": "\(delivery)", "reason": "\(error)"])
      }
      guard let message = batch.entries[index].message else { continue }
      let label = outcome == 0 ? "duplicate" : outcome == 3 ? CommitBatch.waiting : batch.entries[index].outcomeLabel
      message.span?.end(settledAs: label)
      if counter != nil, batch.entries[index].isFinished, outcome != 3 {
        let counted =
          outcome == 0
          ? CountedOutcome(kind: message.message.kind, verdict: "duplicate")
          : CountedOutcome(kind: message.message.kind, verdict: label, reason: batch.entries[index].rejectionReason)
        // A delivery that is judged again was counted when it was rejected, so only its values are new.
        let isNew = message.message.attributes[EarlierRejection.attribute] == nil
        // Nearly all messages of a batch have the same outcome, so equal neighbours are counted together.
        if isNew, counts.last?.outcome == counted {
          counts[counts.count - 1].count += 1
        } else if isNew {
          counts.append((counted, 1))
        }
        if outcome != 0 { values += batch.entries[index].countedValues }
      }
      observe(
        .processed(
          outcome: label, seconds: batch.entries[index].started.duration(to: instant) / .seconds(1),
          waitedSeconds: Double(wall - message.message.receivedAt) / 1000, span: message.span))
    }
    if !counts.isEmpty || !values.isEmpty { counter?.add(counts, values, at: wall) }
  }
}
