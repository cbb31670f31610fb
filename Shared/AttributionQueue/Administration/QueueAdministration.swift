import RedisClient

/// Operations on queues for operators: counts, dead letters, pause and resume, and the form of the store.
public struct QueueAdministration: Sendable {
  let deliveries: DeliveryQueue

  public init(deliveries: DeliveryQueue) { self.deliveries = deliveries }

  /// Counts of the dead letters that this process deleted because of the limits.
  public var droppedDeadLetters: DroppedDeadLetters { deliveries.droppedDeadLetters }

  /// Counts over all shards. The counts of one shard are taken at the same moment.
  public func snapshot(_ queue: QueueName) async throws(QueueError) -> QueueSnapshot {
    var snapshot = QueueSnapshot(queue: queue)
    snapshot.paused = try await deliveries.send(["EXISTS", .string(Keys.paused(queue))]).integer == 1
    let now = DeliveryQueue.now
    struct Part: Sendable {
      var total, pending, delayed, dead, oldest: Int64
    }
    let parts = await withTaskGroup(of: Result<Part, QueueError>.self) { group in
      for shard in Shard.all {
        group.addTask { [deliveries] in
          do throws(QueueError) {
            let numbers =
              try await deliveries.run(
                Scripts.snapshot,
                [Keys.ready(queue, shard), Keys.delayed(queue, shard), Keys.dead(queue, shard), Keys.byDeadline(queue, shard)],
                [.string(DeliveryQueue.group)]
              ).array?.compactMap(\.integer) ?? []
            guard numbers.count == 5 else { throw .unavailable(.unexpectedReply("snapshot")) }
            return .success(
              Part(total: numbers[0], pending: numbers[1], delayed: numbers[2], dead: numbers[3], oldest: numbers[4]))
          } catch { return .failure(error) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for result in parts {
      let part = try result.get()
      snapshot.depth += max(0, part.total - part.pending)
      snapshot.inFlight += part.pending
      snapshot.delayed += part.delayed
      snapshot.dead += part.dead
      if part.oldest >= 0 {
        snapshot.oldestAgeSeconds = max(snapshot.oldestAgeSeconds ?? 0, Double(now - part.oldest) / 1000)
      }
    }
    return snapshot
  }

  /// Up to `limit` dead letters by shard and age, after the position where an earlier page ended.
  public func deadLetters(_ queue: QueueName, after position: DeadLetterPosition? = nil, limit: Int) async throws(QueueError)
    -> [DeadLetter]
  {
    var letters: [DeadLetter] = []
    for shard in Shard.all[(position?.shard.index ?? 0)...] where letters.count < limit {
      let from = position?.shard == shard ? position.map { "(" + $0.entryID } : nil
      letters += try await deadLetters(queue, shard, from: from ?? "-", to: "+", limit: limit - letters.count)
    }
    return letters
  }

  /// The dead letter of a delivery and its message; nil if there is none. Without a queue, all queues are searched.
  public func deadLetter(_ id: DeliveryID, queue: QueueName?) async throws(QueueError) -> (letter: DeadLetter, message: QueueMessage?)? {
    let page = 256
    for queue in queue.map({ [$0] }) ?? QueueName.allCases {
      var from = "-"
      while true {
        let letters = try await deadLetters(queue, id.shard, from: from, to: "+", limit: page)
        if let letter = letters.first(where: { $0.id == id }) { return (letter, try await message(of: letter)) }
        guard letters.count == page, let end = letters.last else { break }
        from = "(" + end.entryID
      }
    }
    return nil
  }

  /// Returns nil if the dead letter has no readable body.
  private func message(of letter: DeadLetter) async throws(QueueError) -> QueueMessage? {
    let reply = try await deliveries.send(
      ["XRANGE", .string(Keys.dead(letter.queue, letter.id.shard)), .string(letter.entryID), .string(letter.entryID)])
    let fields = EventFeed.fields(reply.array?.first?.array?.last ?? .null)
    guard let body = fields["b"]?.bytes else { return nil }
    return QueueMessage(kind: letter.kind, body: body, envelope: fields["a"]?.bytes ?? [])
  }

  private func deadLetters(_ queue: QueueName, _ shard: Shard, from: String, to: String, limit: Int) async throws(QueueError)
    -> [DeadLetter]
  {
    let reply = try await deliveries.send(
      ["XRANGE", .string(Keys.dead(queue, shard)), .string(from), .string(to), "COUNT", .integer(Int64(limit))])
    return (reply.array ?? []).compactMap { entry in
      guard let parts = entry.array, parts.count == 2, let entryID = parts[0].string else { return nil }
      let fields = EventFeed.fields(parts[1])
      guard let id = fields["i"]?.string.flatMap(DeliveryID.init) else { return nil }
      let message = QueueMessage(kind: fields["k"]?.string ?? "", body: [], envelope: fields["a"]?.bytes ?? [])
      return DeadLetter(
        id: id, queue: queue, kind: fields["k"]?.string ?? "", attempts: Int(fields["n"]?.integer ?? 0),
        receivedAt: message?.receivedAt, diedAt: fields["d"]?.integer ?? 0,
        lastError: fields["x"]?.string ?? "",
        history: (fields["h"]?.string ?? "").split(separator: "\n").map(String.init),
        position: DeadLetterPosition(shard: shard, entryID: entryID), line: fields["o"]?.string)
    }
  }

  /// Puts dead letters back into the queue; their ids and keys stay the same. An empty `ids` means all. Returns how many were put back.
  public func replay(_ queue: QueueName, ids: Set<DeliveryID>) async throws(QueueError) -> Int {
    try await replayOrDelete(queue, ids, isReplay: true)
  }

  /// Deletes dead letters permanently. An empty `ids` means all. Returns how many were deleted.
  public func purge(_ queue: QueueName, ids: Set<DeliveryID>) async throws(QueueError) -> Int {
    try await replayOrDelete(queue, ids, isReplay: false)
  }

  /// Pauses the queue: workers take no more messages; deliveries are still accepted.
  public func pause(_ queue: QueueName) async throws(QueueError) {
    _ = try await deliveries.send(["SET", .string(Keys.paused(queue)), "1"])
  }

  /// Resumes the queue.
  public func resume(_ queue: QueueName) async throws(QueueError) {
    _ = try await deliveries.send(["DEL", .string(Keys.paused(queue))])
  }

  /// The record of a dead letter that is put back.
  private static func replayed(_ letter: DeadLetter) -> DeliveryRecord {
    DeliveryRecord(
      id: letter.id, state: .accepted, queue: letter.queue.rawValue, kind: letter.kind,
      acceptedAt: letter.receivedAt,
      attempts: letter.attempts,
      lastError: letter.lastError)
  }

  /// Reads the dead letters in pages, because the bodies may be large, up to the newest one at the start: messages that become dead letters
  /// again meanwhile are left for another call.
  private func replayOrDelete(_ queue: QueueName, _ ids: Set<DeliveryID>, isReplay: Bool) async throws(QueueError) -> Int {
    let page = 256
    var count = 0
    for shard in ids.isEmpty ? Shard.all : Array(Set(ids.map(\.shard))) {
      let newest = try await deliveries.send(["XREVRANGE", .string(Keys.dead(queue, shard)), "+", "-", "COUNT", "1"])
      guard let last = newest.array?.first?.array?.first?.string else { continue }
      var from = "-"
      while true {
        let letters = try await deadLetters(queue, shard, from: from, to: last, limit: page)
        for letter in letters where ids.isEmpty || ids.contains(letter.id) {
          let order = try await deliveries.orderLineArguments
          let reply = try await deliveries.run(
            Scripts.replay,
            [
              Keys.dead(queue, shard), Keys.ready(queue, shard), Keys.delivery(letter.id), Keys.delayed(queue, shard),
              Keys.payloads(queue, shard),
            ] + (letter.line.map { [Keys.line(queue, shard, $0)] } ?? []),
            [
              .string(letter.entryID), isReplay ? "1" : "0", .integer(DeliveryQueue.now), .bytes(Self.replayed(letter).json),
              .string(order.whenUntaken), .string(order.group),
            ])
          if reply.integer == 1 {
            count += 1
            // A deadline worker queries only shards that are in the schedule.
            if isReplay, queue.isWorkedByDeadline { try await deliveries.schedule(queue).note(shard, due: DeliveryQueue.now) }
          }
        }
        guard letters.count == page, let end = letters.last else { break }
        from = "(" + end.entryID
      }
    }
    return count
  }
}
