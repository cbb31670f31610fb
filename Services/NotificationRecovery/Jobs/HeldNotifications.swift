import AppStore
import AttributionQueue
import RedisClient

/// What a recovery took in and holds back for more urgent notifications of the same window: their ids in Redis, by urgency, so that the
/// app's next leader lets go of them too. Each has a time at which it is worked even when nobody does.
struct HeldNotifications: Sendable {
  /// Ids that are let go at a time.
  static let batch = 1000
  /// How long a list stays that nobody empties, seconds: longer than anything is held.
  private static let keptSeconds: Int64 = 7 * 86_400

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

  /// Takes out the next ones to let go, those held longest first. What is lost between here and the queue comes at its time.
  func take(_ urgency: RecoveryUrgency) async throws(RedisError) -> [DeliveryID] {
    let reply = try await redis.send(["LPOP", .string(key(urgency)), .integer(Int64(Self.batch))])
    return (reply.array ?? []).compactMap { $0.string.flatMap { DeliveryID($0) } }
  }
}
