import RedisClient

/// Reads one shard of a queue, in pages, into a ``QueueView``.
struct QueueReader: Sendable {
  let reader: StoreReader
  /// How long records are stored.
  let recordTTL: Duration
  /// Milliseconds since 1970.
  let now: Int64

  /// The tolerance between the time in a message and the time at which its record was written, because clocks differ; milliseconds.
  private static let clockTolerance: Int64 = 60_000

  /// - Parameters:
  ///   - lines: existing order lines.
  ///   - accepted: deliveries that wait in this queue according to their records.
  func read(_ queue: QueueName, _ shard: Shard, lines: Set<String>, accepted: Set<String>) async throws -> QueueView {
    var view = QueueView(queue, shard)
    view.accepted = accepted
    view.delayed = try await reader.sortedSet(Keys.delayed(queue, shard))
    view.deadlines = Set(try await reader.sortedSet(Keys.byDeadline(queue, shard)).keys)
    try await reader.hash(Keys.payloads(queue, shard), count: StoreReader.bodiesPerPage) { id, packed in
      view.payloads[id] = Self.message(packed.bytes ?? [])
    }
    try await reader.hash(Keys.suspects(queue, shard), count: StoreReader.namesPerPage) { entry, _ in
      if entry != "until" { view.suspects.append(entry) }
    }
    if queue.isWorkedByDeadline { view.leases = try await leases(queue, shard) }
    try await readReady(&view)
    view.deadLettersEnd = try await reader.stream(Keys.dead(queue, shard), after: "0-0", count: StoreReader.bodiesPerPage) { entries in
      try await add(deadLetters: entries, to: &view)
    }
    try await noteUnrecorded(view.payloads.map { ($0.key, $0.value) }, in: &view)
    let waiting = view.delayed.filter { $0.value == .infinity }.compactMap { view.payloads[$0.key]?.line }
    for line in lines.union(waiting) { view.lines[line] = try await reader.list(Keys.line(queue, shard, line)) }
    return view
  }

  func hasAnything(_ queue: QueueName, _ shard: Shard) async throws(RedisError) -> Bool {
    let keys = [Keys.ready, Keys.delayed, Keys.payloads, Keys.dead, Keys.byDeadline, Keys.suspects].map { $0(queue, shard) }
    return try await reader.redis.send(["EXISTS"] + keys.map { .string($0) }).integer != 0
  }

  /// Reads the entries of the ready stream and the dead letters that were added since the last read.
  func readNewEntries(_ view: inout QueueView) async throws {
    try await readReady(&view)
    let (key, end) = (Keys.dead(view.queue, view.shard), view.deadLettersEnd)
    view.deadLettersEnd = try await reader.stream(key, after: end, count: StoreReader.bodiesPerPage) {
      try await add(deadLetters: $0, to: &view)
    }
  }

  private func readReady(_ view: inout QueueView) async throws {
    let (key, end) = (Keys.ready(view.queue, view.shard), view.readyEnd)
    view.readyEnd = try await reader.stream(key, after: end, count: StoreReader.bodiesPerPage) { entries in
      var messages: [(String, QueueView.Message)] = []
      for (entry, fields) in entries {
        view.entries.insert(entry)
        guard let read = LeasedMessage(queue: view.queue, entryID: entry, fields: fields, deliveryCount: 0, consumer: ""),
          read.shard == view.shard
        else {
          view.unreadable.insert(entry)
          // The delivery of an unreadable entry may still be in its order line.
          if let id = EventFeed.fields(fields)["i"]?.string { view.ready[id] = QueueView.Message(entry: entry) }
          continue
        }
        let message = QueueView.Message(
          entry: entry, line: read.line, recordedAt: Self.recordedAt(read.message.receivedAt, history: read.history))
        view.ready[read.deliveryID.description] = message
        messages.append((read.deliveryID.description, message))
      }
      try await noteUnrecorded(messages, in: &view)
    }
  }

  /// Adds to ``QueueView/unrecorded`` the messages that have no record although it cannot have expired yet.
  private func noteUnrecorded(_ messages: [(id: String, message: QueueView.Message)], in view: inout QueueView) async throws {
    let due = messages.compactMap { id, message -> DeliveryID? in
      guard let recordedAt = message.recordedAt, Self.mustHaveRecord(recordedAt, recordTTL, now: now) else { return nil }
      return DeliveryID(id)
    }
    for start in stride(from: 0, to: due.count, by: Int(StoreReader.namesPerPage)) {
      let ids = due[start..<min(start + Int(StoreReader.namesPerPage), due.count)]
      let records = try await reader.values(ids.map(Keys.delivery))
      for (id, record) in zip(ids, records) where record.isNull { view.unrecorded.insert(id.description) }
    }
  }

  private func add(deadLetters entries: [(id: String, fields: RedisReply)], to view: inout QueueView) async throws {
    let deadLetters = entries.map { entry, fields in
      let fields = EventFeed.fields(fields)
      return QueueView.DeadLetterEntry(entry: entry, id: fields["i"]?.string ?? "", isFinal: fields["f"] != nil)
    }
    let records = try await reader.values(deadLetters.map { Keys.deliveries(view.shard) + (DeliveryID($0.id)?.digest ?? "") })
    view.deadLetters += zip(deadLetters, records).map { deadLetter, record in
      var deadLetter = deadLetter
      deadLetter.record = DeliveryID(deadLetter.id).flatMap { id in record.bytes.flatMap { DeliveryRecord(id, json: $0)?.state } }
      return deadLetter
    }
  }

  /// The leased entries of a shard's ready stream.
  private func leases(_ queue: QueueName, _ shard: Shard) async throws -> [String] {
    var (leases, start): ([String], String) = ([], "-")
    while true {
      let key = Keys.ready(queue, shard)
      let reply: RedisReply
      do {
        reply = try await reader.send(
          ["XPENDING", .string(key), .string(DeliveryQueue.group), .string(start), "+", .integer(StoreReader.namesPerPage)], key)
      } catch RedisError.refused(let text) where text.hasPrefix("NOGROUP") {
        return []
      }
      let page = (reply.array ?? []).compactMap { $0.array?.first?.string }
      leases += page
      guard page.count == StoreReader.namesPerPage, let last = page.last else { return leases }
      start = "(" + last
    }
  }

  private static func message(_ packed: [UInt8]) -> QueueView.Message {
    guard let payload = PackedPayload(packed) else { return QueueView.Message() }
    let message = QueueMessage(kind: payload.kind, body: payload.body, envelope: payload.envelope)
    return QueueView.Message(line: payload.line, recordedAt: message.map { recordedAt($0.receivedAt, history: payload.history) })
  }

  /// When the record was last written, milliseconds since 1970: at the accept, or with the last line of the history.
  static func recordedAt(_ receivedAt: Int64, history: String) -> Int64 {
    let newest = history.utf8.split(separator: UInt8(ascii: "\n")).last.flatMap { line in
      Int64(String(decoding: line.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
    }
    return max(receivedAt, newest ?? .min)
  }

  /// False if the record may have expired: a message may wait longer than its record is stored.
  static func mustHaveRecord(_ recordedAt: Int64, _ recordTTL: Duration, now: Int64) -> Bool {
    recordedAt + recordTTL.milliseconds > now + clockTolerance
  }
}
