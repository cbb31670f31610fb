import AppStore
import AttributionQueue
import RedisClient

/// The notifications that a recovery queued and holds back for more urgent ones of the same window. Their ids are in Redis, by urgency, so
/// that the app's next leader can release them too. Each also has a time at which it is worked in any case.
struct HeldNotifications: Sendable {
  /// The first entries of a list.
  struct Entries {
    fileprivate let texts: [String]

    var isEmpty: Bool { texts.isEmpty }
    /// The ids. An entry that is none, written by hand, is only removed.
    var ids: [DeliveryID] { texts.compactMap { DeliveryID($0) } }
  }

  /// The number of ids that are released at a time.
  static let batch = 1000
  /// How long a list is kept, longer than any notification is held, seconds.
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

  /// The next ids to release, those held longest first. They stay listed until ``remove(_:_:)``, so that the next leader releases them if
  /// this one does not get to it.
  func next(_ urgency: RecoveryUrgency) async throws(RedisError) -> Entries {
    let reply = try await redis.send(["LRANGE", .string(key(urgency)), 0, .integer(Int64(Self.batch - 1))])
    return Entries(texts: (reply.array ?? []).compactMap(\.string))
  }

  /// Removes entries whose ids were released from the list's beginning. Safe to repeat.
  func remove(_ entries: Entries, _ urgency: RecoveryUrgency) async throws(RedisError) {
    _ = try await Self.remove.run(on: redis, keys: [key(urgency)], arguments: entries.texts.map { .string($0) })
  }
}
