import RedisClient

/// The owner of a shard of a queue, as Redis stores it: an epoch and a name. It is a fencing token: every step that settles messages of the
/// shard compares it, so a worker that was wrongly considered dead can settle nothing.
struct ShardOwnership: Sendable, Hashable {
  /// `7 0f1e…`: epoch and name; `7 -` after the shard was given back; empty if it never had an owner.
  let text: String
  /// The form in which the owner works the shard; only the owner knows it.
  var form = StoreForm.newest

  /// Nil if the shard has no owner.
  var owner: Substring? {
    guard let space = text.firstIndex(of: " ") else { return nil }
    let name = text[text.index(after: space)...]
    return name == "-" ? nil : name
  }

  static func read(_ queue: QueueName, _ shard: Shard, _ deliveries: DeliveryQueue) async throws(QueueError) -> ShardOwnership {
    ShardOwnership(text: try await deliveries.send(["GET", .string(Keys.ownership(queue, shard))]).string ?? "")
  }

  /// The result of taking a shard.
  enum Taken: Sendable {
    /// The worker owns the shard now. `suspectedUntil`: a former owner may have crashed on a message up to this entry.
    case own(ShardOwnership, suspectedUntil: EntryID?)
    /// The ownership has changed since it was read; this is the current one.
    case lost(ShardOwnership)
  }

  /// Takes the shard for a worker if its ownership did not change since this value was read (own.lua). The worker works the shard in the
  /// form that Redis names. If the shard was worked in another form before, the leases or the ownership of that form end.
  ///
  /// - Parameter isAbandoned: true if the former owner ended without giving the shard back.
  func take(_ queue: QueueName, _ shard: Shard, for worker: String, isAbandoned: Bool, _ deliveries: DeliveryQueue)
    async throws(QueueError) -> Taken
  {
    let form = try await deliveries.form
    let reply = try await deliveries.run(
      Scripts.own,
      [
        Keys.ownership(queue, shard), Keys.ready(queue, shard), Keys.suspects(queue, shard), Keys.delayed(queue, shard),
        Keys.payloads(queue, shard), Keys.absent(shard),
      ],
      [
        .string(text), .string(worker), isAbandoned ? "1" : "0", .integer(Int64(Self.maxBegunMessages)), .string(DeliveryQueue.group),
        form == .leased ? "1" : "0", .string(Keys.lines(queue, shard)),
      ])
    guard let parts = reply.array, parts.count == 3, let current = parts[0].string, let isTaken = parts[1].integer else {
      throw .unavailable(.unexpectedReply("own"))
    }
    guard isTaken == 1 else { return .lost(ShardOwnership(text: current)) }
    let until = form == .leased ? nil : EventFeed.fields(parts[2])["until"]?.string.flatMap(EntryID.init)
    return .own(ShardOwnership(text: current, form: form), suspectedUntil: until)
  }

  /// Gives the shard back. Has no effect if another worker owns it now.
  func giveBack(_ queue: QueueName, _ shard: Shard, _ deliveries: DeliveryQueue) async throws(QueueError) {
    _ = try await deliveries.run(Scripts.disown, [Keys.ownership(queue, shard)], [.string(text)])
  }

  /// The maximum number of messages of a shard that a worker may have started when it crashes: as many as it settles together, times two,
  /// because another build may settle more.
  private static let maxBegunMessages = 2 * ShardWorker.maxBatchSize
}
