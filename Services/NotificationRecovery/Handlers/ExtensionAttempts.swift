import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// Extensions that were asked for, by their names: what tells later whether one was done, and that each is asked for by one call at a
/// time, whatever keys the calls have.
struct ExtensionAttempts: Sendable {
  /// What the first call of a name noted.
  struct Note: Sendable, Hashable {
    let end: SubscriptionEnd
    /// Whether this call made it.
    let isNew: Bool
  }

  /// Longer than anybody repeats a request, seconds.
  static let keptSeconds: Int64 = 30 * 86_400

  let redis: RedisClient

  /// Runs the body while no other call of that name runs its own, up to that moment; otherwise `unavailable`.
  func alone<Value: Sendable>(
    _ name: [String], until deadline: ContinuousClock.Instant, _ body: () async throws(RPCError) -> Value
  ) async throws(RPCError) -> Value {
    try await ExclusiveCall(redis: redis).run(
      Self.key("extending", name), until: deadline,
      otherwise: .unavailable(
        "the same extension is being asked for by another call", reason: "EXTENSION_UNDER_WAY", retryAfter: .seconds(2)), body)
  }

  /// Notes an extension that is about to be asked for; answers where the subscription ended when it was first.
  func begin(_ name: [String], _ end: SubscriptionEnd) async throws(RedisError) -> Note {
    let key = Self.key("extension", name)
    let text = "\(end.expiresDate) \(end.transactionId ?? "")"
    let isNew = try await redis.send(["SET", .string(key), .string(text), "NX", "EX", .integer(Self.keptSeconds)]).string != nil
    guard !isNew, let found = try await redis.send(["GET", .string(key)]).string else { return Note(end: end, isNew: isNew) }
    let parts = found.split(separator: " ")
    guard let date = parts.first.flatMap({ Int64($0) }) else { throw .unexpectedReply("extension") }
    return Note(
      end: SubscriptionEnd(expiresDate: date, transactionId: parts.count > 1 ? String(parts[1]) : nil), isNew: false)
  }

  func forget(_ name: [String]) async throws(RedisError) { try await redis.send(["DEL", .string(Self.key("extension", name))]) }

  /// Notes an extension for all that is about to be asked for; whether it never was before.
  func beginMass(_ name: [String]) async throws(RedisError) -> Bool {
    try await redis.send(["SET", .string(Self.key("mass-extension", name)), "1", "NX", "EX", .integer(Self.keptSeconds)]).string != nil
  }

  private static func key(_ kind: String, _ name: [String]) -> String {
    let id = RecoveryID.make([kind] + name)
    return Keys.own("recovery", "\(kind):\(id)", shardOf: id)
  }
}
