import AppStore
import AttributionQueue
import RedisClient

/// Stores the histories of subscriptions in Redis, a value for each history. For each shard it also stores the due times of silence: when a
/// missing notification about a subscription becomes a gap.
struct SubscriptionStore: Sendable {
  /// How long a history is stored after its last change, seconds: 400 days, which is longer than the longest subscription period, a year,
  /// and longer than Apple's history of notifications.
  static let lifetimeSeconds: Int64 = 400 * 86_400
  /// The maximum number of original transaction ids of a subscription that are followed through migrations.
  static let maxIds = 16

  private static let compareAndSet = RedisScript(
    name: "subscription-compare-and-set", source: PackageResources.subscription_compare_and_set_lua)
  private static let postpone = RedisScript(name: "subscription-postpone", source: PackageResources.subscription_postpone_lua)

  /// A subscription whose due time of silence has passed.
  struct SilentSubscription: Sendable, Hashable {
    let environment: String
    let originalTransactionId: String
    /// The due time, milliseconds since 1970.
    let due: Int64

    fileprivate var name: String { SubscriptionStore.name(environment, originalTransactionId) }
  }

  let redis: RedisClient
  /// The time without notifications after a subscription's end from which silence is a gap, milliseconds.
  let silence: Int64

  /// The history of a subscription; nil if there is none.
  func history(environment: String, originalTransactionId: String) async throws -> SubscriptionHistory? {
    try await read(environment, originalTransactionId).history
  }

  /// The histories of a subscription under all its ids, oldest first. `originalTransactionId` may be any of the ids. Empty if there is no
  /// history.
  func joined(environment: String, originalTransactionId: String) async throws -> [SubscriptionHistory] {
    guard let given = try await history(environment: environment, originalTransactionId: originalTransactionId) else { return [] }
    var histories = [given]
    func other(_ id: String?) async throws -> SubscriptionHistory? {
      guard let id, histories.count < Self.maxIds, !histories.contains(where: { $0.originalTransactionId == id }) else { return nil }
      return try await history(environment: environment, originalTransactionId: id)
    }
    while let next = try await other(histories[histories.count - 1].continuation?.originalTransactionId) { histories.append(next) }
    while let previous = try await other(histories[0].inheritance?.originalTransactionId) { histories.insert(previous, at: 0) }
    return histories
  }

  /// Changes a history, or an empty one if there is none, atomically among all instances. An unchanged history is not written.
  func change<Result>(
    _ environment: String, _ originalTransactionId: String, _ body: (inout SubscriptionHistory) -> Result
  ) async throws -> (SubscriptionHistory, Result) {
    while true {
      let (bytes, known) = try await read(environment, originalTransactionId)
      var history = known ?? SubscriptionHistory(environment: environment, originalTransactionId: originalTransactionId)
      let result = body(&history)
      guard history != (known ?? SubscriptionHistory(environment: environment, originalTransactionId: originalTransactionId)) else {
        return (history, result)
      }
      let reply = try await Self.compareAndSet.run(
        on: redis, keys: [Self.key(environment, originalTransactionId), Self.dueKey(Shard(hashing: originalTransactionId))],
        arguments: [
          .bytes(bytes), .bytes(history.stored), .integer(Self.lifetimeSeconds),
          .string(Self.name(environment, originalTransactionId)),
          history.silenceDue(after: silence).map { .integer($0) } ?? "",
        ])
      if reply.integer == 1 { return (history, result) }
      try Task.checkCancellation()
    }
  }

  // MARK: Silence

  /// Up to `limit` subscriptions of a shard whose due time of silence has passed, the earliest first.
  func silent(in shard: Shard, at now: Int64, limit: Int) async throws -> [SilentSubscription] {
    let reply = try await redis.send([
      "ZRANGEBYSCORE", .string(Self.dueKey(shard)), "-inf", .integer(now), "WITHSCORES", "LIMIT", "0", .integer(Int64(limit)),
    ])
    let pairs = (reply.array ?? []).compactMap(\.string)
    return stride(from: 0, to: pairs.count - 1, by: 2).compactMap { index in
      let parts = pairs[index].split(separator: ":", maxSplits: 1)
      guard parts.count == 2, let due = Double(pairs[index + 1]) else { return nil }
      return SilentSubscription(environment: String(parts[0]), originalTransactionId: String(parts[1]), due: Int64(due))
    }
  }

  /// Sets another due time of silence, or none if `due` is nil, unless the due time was changed since it was read.
  func postpone(_ silent: SilentSubscription, to due: Int64?) async throws {
    _ = try await Self.postpone.run(
      on: redis, keys: [Self.dueKey(Shard(hashing: silent.originalTransactionId))],
      arguments: [.string(silent.name), .integer(silent.due), due.map { .integer($0) } ?? ""])
  }

  // MARK: Reading

  /// Reads a history and its stored bytes, which ``change(_:_:_:)`` compares before it writes.
  private func read(_ environment: String, _ originalTransactionId: String) async throws -> (
    bytes: [UInt8], history: SubscriptionHistory?
  ) {
    let bytes = try await redis.send(["GET", .string(Self.key(environment, originalTransactionId))]).bytes ?? []
    let history = SubscriptionHistory(stored: bytes)
    // A value that cannot be parsed may have been written by a newer version, so it must not be overwritten.
    guard bytes.isEmpty || history != nil else { throw Unreadable(originalTransactionId: originalTransactionId) }
    return (bytes, history)
  }

  /// The error if the stored value of a subscription cannot be parsed.
  struct Unreadable: Error {
    let originalTransactionId: String
  }

  private static func name(_ environment: String, _ originalTransactionId: String) -> String { "\(environment):\(originalTransactionId)" }

  private static func key(_ environment: String, _ originalTransactionId: String) -> String {
    Keys.own("verifier", "subscription:\(environment):\(originalTransactionId)", shardOf: originalTransactionId)
  }

  private static func dueKey(_ shard: Shard) -> String { Keys.own("verifier", "silence", shard) }
}
