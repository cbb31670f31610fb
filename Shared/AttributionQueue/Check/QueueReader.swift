import RedisClient

/// Reads one shard of a queue.
struct QueueReader: Sendable {
  let reader: StoreReader
  /// How long records are stored.
  let recordTTL: Duration
  /// Milliseconds since 1970.
  let now: Int64

  /// The tolerance between the time in a message and the time when its record was written, because clocks differ.
  private static let clocks: Int64 = 60_000

  /// - Parameters:
  ///   - lines: existing order lines.
  ///   - accepted: deliveries that wait in this queue according to their records.
  func read(_ queue: QueueName, _ shard: Shard, lines: Set<String>, accepted: Set<String>) async throws -> QueueView {
    var view = QueueView(queue, shard)
    view.accepted = accepted
    view.delayed = try await reader.sortedSet(Keys.delayed(queue, shard))
    view.deadlines = Set(try await reader.sortedSet(Keys.byDeadline(queue, shard)).keys)
    try await reader.hash(Keys.payloads(queue, shard), count: StoreReader.bodies) { id, packed in
      view.payloads[id] = Self.message(packed.bytes ?? [])
    }
    try await reader.hash(Keys.suspects(queue, shard), count: StoreReader.names) { entry, _ in
      if entry != "until" { view.suspects.append(entry) }
    }
    if queue.isWorkedByDeadline { view.leases = try await leases(queue, shard) }
    try await readReady(&view)
    view.lettersEnd = try await reader.stream(Keys.dead(queue, shard), behind: "0-0", count: StoreReader.bodies) { entries in
      try await add(letters: entries, to: &view)
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

  /// Reads entries of the ready stream and the dead letters that were added since the last read.
  func readOn(_ view: inout QueueView) async throws {
    try await readReady(&view)
    let (key, end) = (Keys.dead(view.queue, view.shard), view.lettersEnd)
    view.lettersEnd = try await reader.stream(key, behind: end, count: StoreReader.bodies) { try await add(letters: $0, to: &view) }
  }

  private func readReady(_ view: inout QueueView) async throws {
    let (key, end) = (Keys.ready(view.queue, view.shard), view.readyEnd)
    view.readyEnd = try await reader.stream(key, behind: end, count: StoreReader.bodies) { entries in
      var messages: [(String, QueueView.Message)] = []
      for (entry, fields) in entries {
        view.entries.insert(entry)
        guard let read = LeasedMessage(queue: view.queue, entryID: entry, fields: fields, deliveryCount: 0, consumer: ""),
          read.shard == view.shard
        else {
          view.unreadable.insert(entry)
          // An unreadable entry may still hold a position in its order line.
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

  /// Records which messages have no record although it cannot have expired yet.
  private func noteUnrecorded(_ messages: [(id: String, message: QueueView.Message)], in view: inout QueueView) async throws {
    let due = messages.compactMap { id, message -> DeliveryID? in
      guard let recordedAt = message.recordedAt, Self.mustHaveRecord(recordedAt, recordTTL, now: now) else { return nil }
      return DeliveryID(id)
    }
    for start in stride(from: 0, to: due.count, by: Int(StoreReader.names)) {
      let ids = due[start..<min(start + Int(StoreReader.names), due.count)]
      let records = try await reader.values(ids.map(Keys.delivery))
      for (id, record) in zip(ids, records) where record.isNull { view.unrecorded.insert(id.description) }
    }
  }

  private func add(letters entries: [(id: String, fields: RedisReply)], to view: inout QueueView) async throws {
    let letters = entries.map { entry, fields in
      let fields = EventFeed.fields(fields)
      return QueueView.DeadLetterEntry(entry: entry, id: fields["i"]?.string ?? "", isFinal: fields["f"] != nil)
    }
    let records = try await reader.values(letters.map { Keys.deliveries(view.shard) + (DeliveryID($0.id)?.digest ?? "") })
    view.letters += zip(letters, records).map { letter, record in
      var letter = letter
      letter.record = DeliveryID(letter.id).flatMap { id in record.bytes.flatMap { DeliveryRecord(id, json: $0)?.state } }
      return letter
    }
  }

  private func leases(_ queue: QueueName, _ shard: Shard) async throws -> [String] {
    var (leases, behind): ([String], String) = ([], "-")
    while true {
      let key = Keys.ready(queue, shard)
      let reply: RedisReply
      do {
        reply = try await reader.send(
          ["XPENDING", .string(key), .string(DeliveryQueue.group), .string(behind), "+", .integer(StoreReader.names)], key)
      } catch RedisError.refused(let text) where text.hasPrefix("NOGROUP") {
        return []
      }
      let page = (reply.array ?? []).compactMap { $0.array?.first?.string }
      leases += page
      guard page.count == StoreReader.names, let last = page.last else { return leases }
      behind = "(" + last
    }
  }

  private static func message(_ packed: [UInt8]) -> QueueView.Message {
    guard let payload = PackedPayload(packed) else { return QueueView.Message() }
    let message = QueueMessage(kind: payload.kind, body: payload.body, envelope: payload.envelope)
    return QueueView.Message(line: payload.line, recordedAt: message.map { recordedAt($0.receivedAt, history: payload.history) })
  }

  /// When the record was last written: at the accept, or with the last line of the history.
  static func recordedAt(_ receivedAt: Int64, history: String) -> Int64 {
    let newest = history.utf8.split(separator: UInt8(ascii: "\n")).last.flatMap { line in
      Int64(String(decoding: line.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
    }
    return max(receivedAt, newest ?? .min)
  }

  /// False if the record may have expired: a message may wait longer than its record is stored.
  static func mustHaveRecord(_ recordedAt: Int64, _ recordTTL: Duration, now: Int64) -> Bool {
    recordedAt + recordTTL.milliseconds > now + clocks
  }
}
