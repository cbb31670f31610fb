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
  /// How much longer than its time a call is taken to be under way, milliseconds.
  static let grace: Int64 = 2000

  // KEYS 1 who is under way. ARGV 1 who ends. Another's is left alone: this call's time may have passed.
  private static let end = RedisScript(
    name: "extension_end",
    source: "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0")

  let redis: RedisClient

  /// Runs the body while no other call of that name runs its own, up to that moment; otherwise `unavailable`.
  func alone<Value: Sendable>(
    _ name: [String], until deadline: ContinuousClock.Instant, _ body: () async throws(RPCError) -> Value
  ) async throws(RPCError) -> Value {
    let key = Self.key("extending", name)
    let token = RecoveryID.make([String(UInt64.random(in: .min ... .max)), String(UInt64.random(in: .min ... .max))])
    let time = max(1, (deadline - .now).milliseconds) + Self.grace
    let isAlone: Bool
    do throws(RedisError) {
      isAlone = try await redis.send(["SET", .string(key), .string(token), "NX", "PX", .integer(time)]).string != nil
    } catch { throw RPCError(error) }
    guard isAlone else {
      throw .unavailable(
        "the same extension is being asked for by another call", reason: "EXTENSION_UNDER_WAY", retryAfter: .seconds(2))
    }
    let result: Result<Value, RPCError>
    do throws(RPCError) { result = .success(try await body()) } catch { result = .failure(error) }
    // Without Redis it ends by its time.
    _ = try? await Self.end.run(on: redis, keys: [key], arguments: [.string(token)])
    return try result.get()
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
