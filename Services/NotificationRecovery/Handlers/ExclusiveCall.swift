import AttributionProtocol
import RedisClient
import ServiceRuntime

/// Lets only one call with a key run at a time among all instances, by a token in Redis.
struct ExclusiveCall: Sendable {
  /// The time after its deadline for which a call still counts as running, milliseconds.
  static let grace: Int64 = 2000

  private static let end = RedisScript(name: "extension_end", source: PackageResources.exclusive_call_end_lua)

  let redis: RedisClient

  /// Runs the body if no other call with the key runs; otherwise throws `refusal` at once.
  ///
  /// - Parameter deadline: the time by which the call ends. If its instance crashes, another call can run ``grace`` after that.
  func run<Value: Sendable>(
    _ key: String, until deadline: ContinuousClock.Instant, otherwise refusal: RPCError, _ body: () async throws(RPCError) -> Value
  ) async throws(RPCError) -> Value {
    let token = RecoveryID.make([String(UInt64.random(in: .min ... .max)), String(UInt64.random(in: .min ... .max))])
    let lifetime = max(1, (deadline - .now).milliseconds) + Self.grace
    let isAcquired: Bool
    do throws(RedisError) {
      isAcquired = try await redis.send(["SET", .string(key), .string(token), "NX", "PX", .integer(lifetime)]).string != nil
    } catch { throw RPCError(error) }
    guard isAcquired else { throw refusal }
    let result: Result<Value, RPCError>
    do throws(RPCError) { result = .success(try await body()) } catch { result = .failure(error) }
    // If Redis is unavailable, the token expires.
    _ = try? await Self.end.run(on: redis, keys: [key], arguments: [.string(token)])
    return try result.get()
  }
}
