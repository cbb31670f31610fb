/// A rule about the messages of one shard of a queue: how to find suspected faults in a ``QueueView``, and how to confirm one with
/// ``MessageFacts``.
struct MessageRule: Sendable {
  let rule: StoreRule
  let suspects: @Sendable (QueueView) -> [StoreFault]
  let isBroken: @Sendable (MessageFacts) -> Bool

  /// All rules in the order in which faults are repaired.
  static let all: [MessageRule] = [
    missingPayload, lineOfNothing, orphanedPayload, waitsOutsideLine, waitsAsFirst, unreadablePayload, unreadableEntry,
    messageWithoutRecord, recordWithoutMessage, letterOfAnother, suspectOfNothing, leaseOfNothing,
  ]

  static let orphanedPayload = MessageRule(.orphanedPayload) { view in
    view.payloads.filter { view.delayed[$0.key] == nil && !view.deadlines.contains($0.key) }.map { id, message in
      StoreFault(
        .orphanedPayload, view.shard, key: Keys.payloads(view.queue, view.shard), id: id, queue: view.queue, line: message.line)
    }
  } isBroken: {
    $0.hasPayload && $0.delayed == nil && !$0.hasDeadline
  }

  static let missingPayload = MessageRule(.missingPayload) { view in
    let (delayed, deadlines) = (Keys.delayed(view.queue, view.shard), Keys.byDeadline(view.queue, view.shard))
    return view.delayed.keys.filter { view.payloads[$0] == nil }.map {
      StoreFault(.missingPayload, view.shard, key: delayed, id: $0, queue: view.queue)
    }
      + view.deadlines.filter { view.payloads[$0] == nil && view.delayed[$0] == nil }.map {
        StoreFault(.missingPayload, view.shard, key: deadlines, id: $0, queue: view.queue)
      }
  } isBroken: {
    !$0.hasPayload && ($0.delayed != nil || $0.hasDeadline)
  }

  static let unreadablePayload = MessageRule(.unreadablePayload) { view in
    view.payloads.filter { $0.value.recordedAt == nil }.map { id, _ in
      StoreFault(.unreadablePayload, view.shard, key: Keys.payloads(view.queue, view.shard), id: id, queue: view.queue)
    }
  } isBroken: {
    $0.hasPayload
  }

  static let waitsOutsideLine = MessageRule(.waitsOutsideLine) { view in
    waiting(view).filter { id, line in line.map { view.lines[$0]?.contains(id) != true } ?? true }.map { id, line in
      StoreFault(.waitsOutsideLine, view.shard, key: Keys.delayed(view.queue, view.shard), id: id, queue: view.queue, line: line)
    }
  } isBroken: {
    $0.waitsForTurn && $0.lineIndex == nil
  }

  static let waitsAsFirst = MessageRule(.waitsAsFirst) { view in
    waiting(view).compactMap { id, line in
      guard let line, view.lines[line]?.first == id else { return nil }
      return StoreFault(.waitsAsFirst, view.shard, key: Keys.line(view.queue, view.shard, line), id: id, queue: view.queue, line: line)
    }
  } isBroken: {
    $0.waitsForTurn && $0.lineIndex == 0
  }

  /// The readable messages that wait in an order line, and the names of their lines.
  private static func waiting(_ view: QueueView) -> [(id: String, line: String?)] {
    view.delayed.compactMap { id, due in
      guard due == .infinity, let message = view.payloads[id], message.recordedAt != nil else { return nil }
      return (id, message.line)
    }
  }

  static let lineOfNothing = MessageRule(.lineOfNothing) { view in
    view.lines.flatMap { line, ids in
      Set(ids.filter { !view.has($0) }).map { id in
        StoreFault(.lineOfNothing, view.shard, key: Keys.line(view.queue, view.shard, line), id: id, queue: view.queue, line: line)
      }
    }
  } isBroken: {
    $0.lineIndex != nil && $0.isNowhere
  }

  static let unreadableEntry = MessageRule(.unreadableEntry) { view in
    view.unreadable.map {
      StoreFault(.unreadableEntry, view.shard, key: Keys.ready(view.queue, view.shard), id: $0, queue: view.queue, entry: $0)
    }
  } isBroken: {
    $0.entryExists
  }

  static let messageWithoutRecord = MessageRule(.messageWithoutRecord) { view in
    view.unrecorded.compactMap { id in
      DeliveryID(id).map { StoreFault(.messageWithoutRecord, view.shard, key: Keys.delivery($0), id: id, queue: view.queue) }
    }
  } isBroken: {
    !$0.hasRecord && $0.isMessage
  }

  static let recordWithoutMessage = MessageRule(.recordWithoutMessage) { view in
    let deadLetters = Set(view.deadLetters.map(\.id))
    return view.accepted.filter { !view.has($0) && !deadLetters.contains($0) }.compactMap { id in
      DeliveryID(id).map { StoreFault(.recordWithoutMessage, view.shard, key: Keys.delivery($0), id: id, queue: view.queue) }
    }
  } isBroken: {
    $0.record == .accepted && $0.isNowhere && !$0.isDeadLetter
  }

  /// While a message with the same id exists, the record describes that one: the delivery was accepted again after it became a dead letter.
  static let letterOfAnother = MessageRule(.letterOfAnother) { view in
    let suspects = view.deadLetters.filter { letter in
      !letter.isFinal && letter.record.map { $0 != .dead } == true && !view.has(letter.id)
    }
    return suspects.map { StoreFault(.letterOfAnother, view.shard, key: Keys.dead(view.queue, view.shard), id: $0.id, queue: view.queue) }
  } isBroken: {
    $0.deadLetterExists && $0.record.map { $0 != .dead } == true && $0.isNowhere
  }

  static let suspectOfNothing = MessageRule(.suspectOfNothing) { view in
    view.suspects.filter { !view.entries.contains($0) }.map {
      StoreFault(.suspectOfNothing, view.shard, key: Keys.suspects(view.queue, view.shard), id: $0, queue: view.queue, entry: $0)
    }
  } isBroken: {
    $0.isSuspect && !$0.entryExists
  }

  static let leaseOfNothing = MessageRule(.leaseOfNothing) { view in
    view.leases.filter { !view.entries.contains($0) }.map {
      StoreFault(.leaseOfNothing, view.shard, key: Keys.ready(view.queue, view.shard), id: $0, queue: view.queue, entry: $0)
    }
  } isBroken: {
    $0.isLeased && !$0.entryExists
  }

  private init(
    _ rule: StoreRule, _ suspects: @escaping @Sendable (QueueView) -> [StoreFault], isBroken: @escaping @Sendable (MessageFacts) -> Bool
  ) {
    self.rule = rule
    self.suspects = suspects
    self.isBroken = isBroken
  }
}
