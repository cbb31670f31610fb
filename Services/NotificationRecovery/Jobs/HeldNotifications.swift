import AppStore
import AttributionQueue
import RedisClient

/// The notifications that a recovery has queued as delayed messages, so that more urgent ones of its window are processed first. Their ids
/// are listed in Redis, by urgency, so that the app's next leader can release them too. A notification that nobody releases is processed
/// when its delay ends.
struct HeldNotifications: Sendable {
  /// The first entries of a list.
  struct Entries {
    fileprivate let texts: [String]

    var isEmpty: Bool { texts.isEmpty }
    /// The ids of the entries. An entry that is not an id, because somebody wrote it by hand, is left out here, but it is removed from the
    /// list.
    var ids: [DeliveryID] { texts.compactMap { DeliveryID($0) } }
  }

  /// The maximum number of ids that are released at a time.
  static let batch = 1000
  /// How long a list is stored after the last notification was added, seconds: far longer than notifications are held by default (setting
  /// `recovery.holdBack`, five minutes).
  private static let keptSeconds: Int64 = 7 * 86_400

  private static let remove = RedisScript(name: "recovery_held_remove", source: PackageResources.held_remove_lua)

  let redis: RedisClient
  let recoveryId: String
  let bundleId: String

  private func key(_ urgency: RecoveryUrgency) -> String {
    Keys.own("recovery", "held:\(urgency.rawValue):\(recoveryId)", shardOf: bundleId)
  }

  func add(_ ids: [DeliveryID], _ urgency: RecoveryUrgency) async throws(RedisError) {
    guard !ids.isEmpty else { return }
    try await redis.send(["RPUSH", .string(key(urgency))] + ids.map { .string($0.description) })
    try await redis.send(["EXPIRE", .string(key(urgency)), .integer(Self.keptSeconds)])
  }

  /// The next ids to release, those listed first. They stay listed until ``remove(_:_:)``, so that the next leader releases them if this
  /// instance ends before.
  func next(_ urgency: RecoveryUrgency) async throws(RedisError) -> Entries {
    let reply = try await redis.send(["LRANGE", .string(key(urgency)), 0, .integer(Int64(Self.batch - 1))])
    return Entries(texts: (reply.array ?? []).compactMap(\.string))
  }

  /// Removes entries from the beginning of the list after their ids were released. Safe to repeat.
  func remove(_ entries: Entries, _ urgency: RecoveryUrgency) async throws(RedisError) {
    _ = try await Self.remove.run(on: redis, keys: [key(urgency)], arguments: entries.texts.map { .string($0) })
  }
}
