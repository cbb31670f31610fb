import Logging
import RedisClient

/// What becomes of the messages that were read.
extension ShardWorker {
  /// Judges what was read, in order, as long as the worker is not to stop. It may end before the last that was read: the rest is read anew.
  func judge(_ read: Read, _ shard: OwnedShard, _ ownership: ShardOwnership, _ place: Place) async throws -> CommitCall {
    var call = CommitCall(queue, shard.shard, many: read.count, deliveries)
    var turns = LineTurns(queue, shard.shard, read.entries, deliveries)
    var kind = ""
    var started = ContinuousClock.now
    for entry in read.entries {
      if isStopping { break }
      if await place.slices?.pauseIfUsedUp() == true { started = .now }
      var parts = entry.elements
      guard let id = parts.nextString(), let fields = parts.next() else { throw QueueError.unavailable(.unexpectedReply("XRANGE")) }
      var begun: Int64 = 1
      var isSuspected = false
      if let until = shard.suspectedUntil, let entry = EntryID(id) {
        if entry > until {
          shard.clearSuspicion()
          _ = try await deliveries.send(["HDEL", .string(Keys.suspects(queue, shard.shard)), "until"])
        } else {
          // Alone, so that one that it dies of is the first that is left.
          if !call.isEmpty { return call }
          isSuspected = true
          begun = try await count(id, shard.shard, ownership)
        }
      }
      guard
        let message = LeasedMessage(
          queue: queue, entryID: id, fields: fields, deliveryCount: begun, consumer: "", kindBefore: kind),
        message.shard == shard.shard
      else {
        call.bury(UnreadableEntry(entryID: id, fields: fields), started: started)
        continue
      }
      kind = message.message.kind
      if begun > deliveries.configuration.maxDeliveries {
        call.bury(message, error: "its worker ended \(begun - 1) times without finishing it", isSuspected: true, started: started)
        continue
      }
      let outcome = await handler(message)
      if case .inOrder(let apply) = outcome {
        if try await turns.isTurn(of: message, after: call) {
          await add(message, apply(), to: &call, isSuspected: isSuspected, isOrdered: message.line != nil, started: started)
        } else {
          call.wait(message, isSuspected: isSuspected, started: started)
        }
      } else {
        await add(message, outcome, to: &call, isSuspected: isSuspected, isOrdered: false, started: started)
      }
      let ended = ContinuousClock.now
      turned.withLock { $0 = ended }
      if let slices = place.slices {
        slices.use(started.duration(to: ended))
      } else {
        await Task.yield()
      }
      started = ended
    }
    return call
  }

  /// How often a message was begun, with this time. An owner died before, when it may have been begun too.
  private func count(_ entry: String, _ shard: Shard, _ ownership: ShardOwnership) async throws(QueueError) -> Int64 {
    let reply = try await deliveries.run(
      Scripts.suspect, [Keys.ownership(queue, shard), Keys.suspects(queue, shard)], [.string(ownership.text), .string(entry)])
    guard let count = reply.integer else { throw .unavailable(.unexpectedReply("suspect")) }
    guard count > 0 else { throw .leaseLost }
    return count + 1
  }

  /// - Parameter isOrdered: whether the message is proved and keeps its order.
  private func add(
    _ message: LeasedMessage, _ outcome: WorkOutcome, to call: inout CommitCall, isSuspected: Bool, isOrdered: Bool,
    started: ContinuousClock.Instant
  ) async {
    let configuration = deliveries.configuration
    func bury(_ error: String, in call: inout CommitCall) {
      call.bury(message, error: error, isSuspected: isSuspected, isOrdered: isOrdered, started: started)
    }
    func delay(_ delay: Duration, error: String? = nil, meanwhile: (@Sendable () async -> Void)? = nil, in call: inout CommitCall) {
      call.delay(message, delay, error: error, isSuspected: isSuspected, isOrdered: isOrdered, meanwhile: meanwhile, started: started)
    }
    switch outcome {
    case .complete(let completion):
      call.complete(
        message, completion, isSuspected: isSuspected, isOrdered: isOrdered, started: started, now: DeliveryQueue.now)
    case .retry(let after, let error):
      guard after != nil || message.attempt < configuration.maxAttempts else { return bury(error, in: &call) }
      delay(after ?? configuration.backoff(message.attempt), error: error, in: &call)
    case .wait(let time): delay(time, in: &call)
    case .giveBack: delay(Self.handOver, in: &call)
    case .deadLetter(let error): bury(error, in: &call)
    case .deferred(let most, let work): delay(most, meanwhile: work, in: &call)
    case .inOrder(let apply):
      await add(message, apply(), to: &call, isSuspected: isSuspected, isOrdered: isOrdered, started: started)
    }
  }

  /// Settles what was judged; what is to be worked next where there is room for it.
  func settle(_ call: CommitCall, _ shard: OwnedShard, _ ownership: ShardOwnership, _ place: Place) async throws -> Read? {
    let reading = !isStopping && shard.isWanted && place.room.reserveAtOnce(pace.together)
    var read: Read?
    do {
      let (outcomes, entries) = try await commit(call, shard.shard, ownership, reading: reading ? pace.together : 0)
      if reading {
        read = Read(entries)
        place.room.leave(pace.together - (read?.count ?? 0))
      }
      try await settleHeld(call, outcomes, shard.shard, ownership)
      return read
    } catch {
      if reading { place.room.leave(read?.count ?? pace.together) }
      throw error
    }
  }

  /// What a handler makes of messages that were counted before is settled in steps of their own.
  private func settleHeld(_ call: CommitCall, _ outcomes: [Int64], _ shard: Shard, _ ownership: ShardOwnership) async throws {
    guard outcomes.contains(2) else { return }
    var again = CommitCall(queue, shard, many: 1, deliveries)
    for (work, outcome) in zip(call.works, outcomes) where outcome == 2 {
      guard let message = work.message, let whenSeen = work.whenSeen else { continue }
      await add(
        message, whenSeen(), to: &again, isSuspected: work.isSuspected, isOrdered: work.isOrdered, started: work.started)
    }
    let (outcomes, _) = try await commit(again, shard, ownership, reading: 0)
    try await settleHeld(again, outcomes, shard, ownership)
  }

  private func commit(_ call: CommitCall, _ shard: Shard, _ ownership: ShardOwnership, reading: Int) async throws(QueueError)
    -> (outcomes: [Int64], next: RedisReply)
  {
    // Before it is put there, so that a process that dies in between makes no message late.
    if let due = call.due { try await deliveries.schedule(queue).note(shard, due: due) }
    let reply = try await deliveries.run(Scripts.commit, call.keys, call.arguments(ownership, reading: reading))
    var parts = reply.elements
    guard let isOwner = parts.next()?.integer else { throw .unavailable(.unexpectedReply("commit")) }
    guard isOwner == 1 else {
      for _ in call.works { observe(.leaseLost) }
      throw .leaseLost
    }
    let outcomes = parts.next()?.elements.compactMap(\.integer) ?? []
    guard outcomes.count == call.works.count, let next = parts.next() else { throw .unavailable(.unexpectedReply("commit")) }
    if let due = call.due { deliveries.noteAgain(queue, shard, due: due) }
    tell(call, outcomes)
    for (work, outcome) in zip(call.works, outcomes) where outcome == 1 {
      if let meanwhile = work.meanwhile, let message = work.message { deferred.begin(message.deliveryID, meanwhile) }
    }
    if call.leavesDeadLetter { try? await DeadLetterBound(queue: queue, deliveries: deliveries).enforce(shard) }
    return (outcomes, next)
  }

  private func tell(_ call: CommitCall, _ outcomes: [Int64]) {
    let (instant, wall) = (ContinuousClock.now, DeliveryQueue.now)
    for (work, outcome) in zip(call.works, outcomes) where outcome != 2 {
      if let death = work.death, outcome != 3 {
        deliveries.logger.error(
          "a message became a dead letter",
          metadata: [
            "queue": "\(queue.rawValue)", "delivery": "\(work.message.map { "\($0.deliveryID)" } ?? "unknown")", "reason": "\(death)",
          ])
      }
      guard let message = work.message else { continue }
      observe(
        .processed(
          outcome: outcome == 0 ? "duplicate" : outcome == 3 ? CommitCall.waiting : work.word,
          seconds: work.started.duration(to: instant) / .seconds(1),
          waitedSeconds: Double(wall - message.message.receivedAt) / 1000))
    }
  }
}
