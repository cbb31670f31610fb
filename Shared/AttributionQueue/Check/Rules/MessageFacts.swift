import RedisClient

/// All data about one message, read in one atomic step (facts.lua). Scripts change the data in atomic steps too, so work in progress is
/// never reported as a fault.
struct MessageFacts: Sendable {
  /// The due time, infinity for a message that waits in its order line; nil if it is not delayed.
  var delayed: Double?
  var hasDeadline = false
  var hasPayload = false
  /// The index of the message in the queried order line; nil if it is not in the line.
  var lineIndex: Int64?
  /// The first id of the queried order line.
  var lineFirst: String?
  var hasRecord = false
  /// The state in the record.
  var record: DeliveryState?
  /// True if the queried entry is in the ready stream.
  var entryExists = false
  /// True if the queried dead letter exists.
  var deadLetterExists = false
  /// True if the message was added to the ready stream since the stream was read.
  var wasAddedToReady = false
  /// True if the message became a dead letter since the dead letters were read.
  var wasAddedToDeadLetters = false
  /// True if the starts of the queried entry are counted (suspect.lua).
  var isSuspect = false
  /// True if the queried entry is leased.
  var isLeased = false

  /// True if a worker will process the message.
  var isMessage: Bool { delayed != nil || hasDeadline || isInStream }
  var isInStream: Bool { entryExists || wasAddedToReady }
  var isDeadLetter: Bool { deadLetterExists || wasAddedToDeadLetters }
  var isNowhere: Bool { !isMessage && !hasPayload }
  /// True if the message waits in an order line.
  var waitsForTurn: Bool { hasPayload && delayed == .infinity }

  init() {}

  /// Reads the data about a message; nil if more entries were added since the view was read than one step may read.
  ///
  /// - Parameter deadLetter: the entry of the message among the dead letters; empty if it is none.
  static func read(_ fault: StoreFault, _ view: QueueView, deadLetter: String, _ redis: RedisClient) async throws(RedisError)
    -> MessageFacts?
  {
    let (queue, shard) = (view.queue, view.shard)
    let reply = try await Scripts.facts.run(
      redis,
      [
        Keys.ready(queue, shard), Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.byDeadline(queue, shard),
        Keys.dead(queue, shard), Keys.suspects(queue, shard), Keys.deliveries(shard) + (DeliveryID(fault.id)?.digest ?? ""),
      ] + (fault.line.map { [Keys.line(queue, shard, $0)] } ?? []),
      [
        .string(fault.id), .string(view.readyEnd), .string(view.deadLettersEnd), .integer(maxEntries),
        .string(fault.entry.isEmpty ? view.ready[fault.id]?.entry ?? "" : fault.entry), .string(deadLetter), .string(DeliveryQueue.group),
      ])
    guard let parts = reply.array, parts.count == 12 else { throw .unexpectedReply("facts") }
    guard parts[8].integer != -1, parts[9].integer != -1 else { return nil }
    var facts = MessageFacts()
    facts.delayed = parts[0].string.flatMap(Double.init)
    facts.hasDeadline = parts[1].string?.isEmpty == false
    facts.hasPayload = parts[2].integer == 1
    facts.lineIndex = parts[3].integer.flatMap { $0 < 0 ? nil : $0 }
    facts.lineFirst = parts[4].string
    facts.hasRecord = parts[5].string?.isEmpty == false
    facts.record = DeliveryID(fault.id).flatMap { id in parts[5].bytes.flatMap { DeliveryRecord(id, json: $0)?.state } }
    facts.entryExists = parts[6].integer == 1
    facts.deadLetterExists = parts[7].integer == 1
    facts.wasAddedToReady = parts[8].integer == 1
    facts.wasAddedToDeadLetters = parts[9].integer == 1
    facts.isSuspect = parts[10].integer == 1
    facts.isLeased = parts[11].integer == 1
    return facts
  }

  /// The maximum number of entries that one step reads, because a script blocks Redis.
  private static let maxEntries: Int64 = 200
}
