import AttributionProtocol
import RedisClient
import ServiceRuntime

/// A mutual exclusion of calls of the same name, across all instances.
struct ExclusiveCall: Sendable {
  /// The time after a call's deadline for which it still counts as running, milliseconds.
  static let grace: Int64 = 2000

  private static let end = RedisScript(name: "extension_end", source: PackageResources.exclusive_call_end_lua)

  let redis: RedisClient

  /// Runs the body if no other call with that key runs, otherwise throws `refusal` at once.
  ///
  /// - Parameter deadline: when the call ends at the latest. If its instance crashes, the key is free ``grace`` after that.
  func run<Value: Sendable>(
    _ key: String, until deadline: ContinuousClock.Instant, otherwise refusal: RPCError, _ body: () async throws(RPCError) -> Value
  ) async throws(RPCError) -> Value {
    let token = RecoveryID.make([String(UInt64.random(in: .min ... .max)), String(UInt64.random(in: .min ... .max))])
    let time = max(1, (deadline - .now).milliseconds) + Self.grace
    let isAlone: Bool
    do throws(RedisError) {
      isAlone = try await redis.send(["SET", .string(key), .string(token), "NX", "PX", .integer(time)]).string != nil
    } catch { throw RPCError(error) }
    guard isAlone else { throw refusal }
    let result: Result<Value, RPCError>
    do throws(RPCError) { result = .success(try await body()) } catch { result = .failure(error) }
    // Without Redis, the key expires.
    _ = try? await Self.end.run(on: redis, keys: [key], arguments: [.string(token)])
    return try result.get()
  }
}
