import RedisClient

/// Checks one shard of a queue. The shard is read in pages while it changes (``QueueView``), so each suspected fault is confirmed with data
/// that one atomic step reads (``MessageFacts``).
struct QueueCheck: Sendable {
  let reader: QueueReader
  let redis: RedisClient
  /// Repairs faults; nil if nothing may be changed.
  let storeRepair: StoreRepair?

  struct Result: Sendable {
    var faults: [StoreFault] = []
    var messages = 0
    /// The earliest due time of a delayed message, milliseconds since 1970.
    var firstDue: Double?
  }

  /// - Parameters:
  ///   - lines: the shard's order lines that ``KeyWalk`` found.
  ///   - accepted: the deliveries that wait in this shard according to their records.
  func check(_ queue: QueueName, _ shard: Shard, lines: Set<String>, accepted: Set<String>) async throws -> Result {
    var result = Result()
    if let fault = try await ownership(queue, shard) { result.faults.append(fault) }
    // Most shards of most queues are empty.
    if lines.isEmpty, accepted.isEmpty, try await !reader.hasAnything(queue, shard) { return result }
    // The shard is checked again after repairs, because a repair may reveal another fault.
    for round in 1...Self.maxRounds {
      var view: QueueView
      do {
        view = try await reader.read(queue, shard, lines: lines, accepted: accepted)
      } catch let wrong as StoreReader.WrongType {
        result.faults.append(StoreFault(.wrongType, shard, key: wrong.key, queue: queue))
        return result
      }
      result.messages = Set(view.payloads.keys).union(view.ready.keys).count
      result.firstDue = view.firstDue
      var found = try await faults(&view)
      guard let storeRepair, !found.isEmpty, round < Self.maxRounds else {
        result.faults += found
        break
      }
      for index in found.indices { found[index].isRepaired = try await storeRepair.repair(found[index]) }
      let repaired = found.filter(\.isRepaired)
      result.faults += repaired
      guard !repaired.isEmpty else {
        result.faults += found
        break
      }
    }
    return result
  }

  /// How often a shard is read and repaired.
  private static let maxRounds = 5
  /// How often the entries that were added meanwhile are read before a message is left unchecked.
  private static let maxReads = 5

  private func faults(_ view: inout QueueView) async throws -> [StoreFault] {
    var faults: [StoreFault] = []
    for rule in MessageRule.all {
      for suspect in rule.suspects(view) {
        if let facts = try await readFacts(about: suspect, &view), rule.isBroken(facts) { faults.append(suspect) }
      }
    }
    return faults
  }

  private func readFacts(about suspect: StoreFault, _ view: inout QueueView) async throws -> MessageFacts? {
    for _ in 0..<Self.maxReads {
      let deadLetter = view.deadLetters.last { $0.id == suspect.id }?.entry ?? ""
      if let facts = try await MessageFacts.read(suspect, view, deadLetter: deadLetter, redis) { return facts }
      try await reader.readNewEntries(&view)
    }
    return nil
  }

  private func ownership(_ queue: QueueName, _ shard: Shard) async throws -> StoreFault? {
    let key = Keys.ownership(queue, shard)
    do {
      guard let text = try await reader.reader.send(["GET", .string(key)], key).string else { return nil }
      return Self.isOwnership(text) ? nil : StoreFault(.ownershipForm, shard, key: key, queue: queue)
    } catch let wrong as StoreReader.WrongType {
      return StoreFault(.wrongType, shard, key: wrong.key, queue: queue)
    }
  }

  /// True if the text is an ownership: an epoch, a space, and a name.
  static func isOwnership(_ text: String) -> Bool {
    let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 && !parts[1].isEmpty && !parts[0].isEmpty && parts[0].utf8.allSatisfy { (48...57).contains($0) }
  }
}
