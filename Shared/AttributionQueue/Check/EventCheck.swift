import RedisClient

/// Checks that the events of a shard and their index agree.
struct EventCheck: Sendable {
  let reader: StoreReader
  let storeRepair: StoreRepair?

  struct Result: Sendable {
    var faults: [StoreFault] = []
    var events = 0
  }

  func check(_ shard: Shard) async throws -> Result {
    var result = Result()
    do {
      for var fault in try await faults(shard, &result) {
        if let storeRepair { fault.isRepaired = try await storeRepair.repair(fault) }
        result.faults.append(fault)
      }
    } catch let wrong as StoreReader.WrongType {
      result.faults.append(StoreFault(.wrongType, shard, key: wrong.key))
    }
    return result
  }

  private func faults(_ shard: Shard, _ result: inout Result) async throws -> [StoreFault] {
    let (events, index) = (Keys.events(shard), Keys.eventsIndex(shard))
    // By event id: the event's entry according to the index.
    var indexedEntries: [String: String] = [:]
    try await reader.hash(index, count: StoreReader.namesPerPage) { indexedEntries[$0] = $1.string ?? "" }
    // Suspects are events of the stream that the index lacks, and index entries without an event. Both may have changed since they were
    // read.
    var (suspects, faults): ([StoreFault], [StoreFault]) = ([], [])
    var count = 0
    _ = try await reader.stream(events, after: "0-0", count: StoreReader.bodiesPerPage) { entries in
      for (entry, fields) in entries {
        count += 1
        let fields = EventFeed.fields(fields)
        guard let id = fields["i"]?.string, fields["t"]?.string != nil, fields["e"]?.bytes != nil else {
          faults.append(StoreFault(.unreadableEntry, shard, key: events, id: entry))
          continue
        }
        if indexedEntries[id] == entry {
          indexedEntries[id] = nil
        } else {
          suspects.append(StoreFault(.eventWithoutIndex, shard, key: events, id: id, entry: entry))
        }
      }
    }
    result.events = count
    suspects += indexedEntries.map { StoreFault(.indexWithoutEvent, shard, key: index, id: $0.key, entry: $0.value) }
    for suspect in suspects {
      let reply = try await Scripts.eventFacts.run(reader.redis, [events, index], [.string(suspect.id), .string(suspect.entry)])
      guard let parts = reply.array, parts.count == 3 else { throw RedisError.unexpectedReply("event_facts") }
      let facts = EventFacts(indexedEntry: parts[0].string ?? "", idInEntry: parts[1].string ?? "", idInIndexedEntry: parts[2].string ?? "")
      if let rule = facts.brokenRule(id: suspect.id, entry: suspect.entry) {
        faults.append(
          StoreFault(rule, shard, key: rule == .indexWithoutEvent ? index : events, id: suspect.id, entry: suspect.entry))
      }
    }
    return faults
  }
}

/// What one script call reads about a suspected event: its entry in the index, and the ids in two entries of the stream.
struct EventFacts: Sendable {
  /// The event's entry according to the index; empty if the index lacks the event.
  var indexedEntry: String
  /// The id in the queried entry of the stream; empty if there is no such entry.
  var idInEntry: String
  /// The id in ``indexedEntry``; empty if there is no such entry.
  var idInIndexedEntry: String

  /// The rule that an event with this id and this entry breaks; nil if it breaks none.
  func brokenRule(id: String, entry: String) -> StoreRule? {
    if idInEntry == id, indexedEntry != entry { return idInIndexedEntry == id ? .eventTwice : .eventWithoutIndex }
    return !indexedEntry.isEmpty && idInIndexedEntry != id ? .indexWithoutEvent : nil
  }
}
