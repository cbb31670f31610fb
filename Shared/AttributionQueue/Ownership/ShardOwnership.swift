import RedisClient

/// Who owns a shard of a queue, as Redis has it: an epoch and a name. Every step of the owner compares it, so that one that was taken to
/// be dead, and is not, can do nothing any more.
struct ShardOwnership: Sendable, Hashable {
  /// `7 0f1e…`: epoch and name; `7 -` when it was given back; empty when nobody ever had it.
  let text: String
  /// The form in which its owner works the shard; known to that one alone.
  var form = StoreForm.newest

  /// Nil when nobody has it.
  var owner: Substring? {
    guard let space = text.firstIndex(of: " ") else { return nil }
    let name = text[text.index(after: space)...]
    return name == "-" ? nil : name
  }

  static func read(_ queue: QueueName, _ shard: Shard, _ deliveries: DeliveryQueue) async throws(QueueError) -> ShardOwnership {
    ShardOwnership(text: try await deliveries.send(["GET", .string(Keys.ownership(queue, shard))]).string ?? "")
  }

  /// What became of taking a shard.
  enum Taken: Sendable {
    /// `suspectedUntil`: up to that entry each message may be what the one before died of.
    case own(ShardOwnership, suspectedUntil: EntryID?)
    /// Another was there before.
    case lost(ShardOwnership)
  }

  /// Takes the shard for a worker, if nobody took it since this was read, to work it in the form that Redis names. Where that is another
  /// than it was worked in, what the workers of the other one hold is theirs no more.
  ///
  /// - Parameter isAbandoned: whether the one before ended without giving it back.
  func take(_ queue: QueueName, _ shard: Shard, for worker: String, isAbandoned: Bool, _ deliveries: DeliveryQueue)
    async throws(QueueError) -> Taken
  {
    let form = try await deliveries.form
    let reply = try await deliveries.run(
      Scripts.own, [Keys.ownership(queue, shard), Keys.ready(queue, shard), Keys.suspects(queue, shard)],
      [
        .string(text), .string(worker), isAbandoned ? "1" : "0", .integer(Int64(Self.begunTogether)), .string(DeliveryQueue.group),
        form == .leased ? "1" : "0",
      ])
    guard let parts = reply.array, parts.count == 3, let now = parts[0].string, let isTaken = parts[1].integer else {
      throw .unavailable(.unexpectedReply("own"))
    }
    guard isTaken == 1 else { return .lost(ShardOwnership(text: now)) }
    let until = form == .leased ? nil : EventFeed.fields(parts[2])["until"]?.string.flatMap(EntryID.init)
    return .own(ShardOwnership(text: now, form: form), suspectedUntil: until)
  }

  /// Gives the shard back. Another owner stays what it is.
  func giveBack(_ queue: QueueName, _ shard: Shard, _ deliveries: DeliveryQueue) async throws(QueueError) {
    _ = try await deliveries.run(Scripts.disown, [Keys.ownership(queue, shard)], [.string(text)])
  }

  /// How many messages of a shard a worker may have begun when it dies: as many as it settles together, and some more, since another
  /// version of it may have settled more.
  private static let begunTogether = 2 * ShardWorker.settledTogether
}
