import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// Stores in Redis which extensions of renewal dates were requested, by name. The record lets a later call find out whether an extension
/// was made. ``runExclusively(_:until:_:)`` lets only one call request the same extension at a time, whatever idempotency keys the calls
/// have.
struct ExtensionRecords: Sendable {
  /// The record of the first call with a name.
  struct Record: Sendable, Hashable {
    /// The subscription's end before the extension was requested.
    let end: SubscriptionEnd
    /// True if the present call made the record.
    let isNew: Bool
  }

  /// How long a record is stored, seconds. A repeat after that time would be sent to Apple as a new request.
  static let keptSeconds: Int64 = 30 * 86_400

  let redis: RedisClient

  /// Runs the body if no other call with the name runs; otherwise throws `UNAVAILABLE` at once (``ExclusiveCall``).
  ///
  /// - Parameter deadline: the time by which the call ends. If its instance crashes, other calls can run soon after that.
  func runExclusively<Value: Sendable>(
    _ name: [String], until deadline: ContinuousClock.Instant, _ body: () async throws(RPCError) -> Value
  ) async throws(RPCError) -> Value {
    try await ExclusiveCall(redis: redis).run(
      Self.key("extending", name), until: deadline,
      otherwise: .unavailable(
        "another call is requesting the same extension", reason: "EXTENSION_UNDER_WAY", retryAfter: .seconds(2)), body)
  }

  /// Records an extension before it is requested, with the subscription's present end. Returns the first call's record.
  func begin(_ name: [String], _ end: SubscriptionEnd) async throws(RedisError) -> Record {
    let key = Self.key("extension", name)
    let text = "\(end.expiresDate) \(end.transactionId ?? "")"
    let isNew = try await redis.send(["SET", .string(key), .string(text), "NX", "EX", .integer(Self.keptSeconds)]).string != nil
    guard !isNew, let found = try await redis.send(["GET", .string(key)]).string else { return Record(end: end, isNew: isNew) }
    let parts = found.split(separator: " ")
    guard let date = parts.first.flatMap({ Int64($0) }) else { throw .unexpectedReply("extension") }
    return Record(
      end: SubscriptionEnd(expiresDate: date, transactionId: parts.count > 1 ? String(parts[1]) : nil), isNew: false)
  }

  /// Removes the record of an extension that was not made.
  func forget(_ name: [String]) async throws(RedisError) { try await redis.send(["DEL", .string(Self.key("extension", name))]) }

  /// Records an extension for all subscribers before it is requested. Returns false if it was recorded before.
  func beginMass(_ name: [String]) async throws(RedisError) -> Bool {
    try await redis.send(["SET", .string(Self.key("mass-extension", name)), "1", "NX", "EX", .integer(Self.keptSeconds)]).string != nil
  }

  private static func key(_ kind: String, _ name: [String]) -> String {
    let id = RecoveryID.make([kind] + name)
    return Keys.own("recovery", "\(kind):\(id)", shardOf: id)
  }
}
