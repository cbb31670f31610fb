import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// Records of requested extensions, by name. They show later whether the extension was made. ``alone(_:until:_:)`` lets one call at a time
/// request it, whatever idempotency keys the calls have.
struct ExtensionRecords: Sendable {
  /// The record of the first call of a name.
  struct Note: Sendable, Hashable {
    let end: SubscriptionEnd
    /// True if this call made the record.
    let isNew: Bool
  }

  /// How long a record is kept, longer than callers repeat a request, seconds.
  static let keptSeconds: Int64 = 30 * 86_400

  let redis: RedisClient

  /// Runs the body if no other call of that name runs, otherwise throws `unavailable` at once.
  ///
  /// - Parameter deadline: when the call ends at the latest. If its instance crashes, other calls can run soon after that.
  func alone<Value: Sendable>(
    _ name: [String], until deadline: ContinuousClock.Instant, _ body: () async throws(RPCError) -> Value
  ) async throws(RPCError) -> Value {
    try await ExclusiveCall(redis: redis).run(
      Self.key("extending", name), until: deadline,
      otherwise: .unavailable(
        "the same extension is being asked for by another call", reason: "EXTENSION_UNDER_WAY", retryAfter: .seconds(2)), body)
  }

  /// Records an extension before it is requested. Returns the subscription's end at the first record.
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

  /// Records an extension for all subscribers before it is requested. Returns true if it is new.
  func beginMass(_ name: [String]) async throws(RedisError) -> Bool {
    try await redis.send(["SET", .string(Self.key("mass-extension", name)), "1", "NX", "EX", .integer(Self.keptSeconds)]).string != nil
  }

  private static func key(_ kind: String, _ name: [String]) -> String {
    let id = RecoveryID.make([kind] + name)
    return Keys.own("recovery", "\(kind):\(id)", shardOf: id)
  }
}
