import Cryptography
public import RedisClient

/// The result of claiming an RPC's idempotency key.
public enum RPCClaim: Sendable, Hashable {
  /// The key was claimed for this owner.
  case new(owner: String)
  /// The key was used for another request.
  case reused
  /// Another call with the key is under way.
  case running
  /// The key was used for the same request, whose stored response this is.
  case done(status: Int, code: String, body: [UInt8])
}

/// Stores the responses of RPCs under their Idempotency-Key.
///
/// A call first claims the key (``claim(scope:fingerprint:lease:)``). If the claim is new, the call is executed while its lease is renewed
/// (``renew(scope:owner:lease:)``); then its response is stored (``finish(scope:owner:status:code:body:)``) or the key is freed
/// (``release(scope:owner:)``). The server's `IdempotentCall` does all this.
public struct RPCIdempotencyStore: Sendable {
  private let redis: RedisClient
  private let responseTTL: Duration

  /// - Parameter responseTTL: how long a response is stored (``QueueConfiguration/rpcAnswerTTL``, at least a day).
  public init(redis: RedisClient, responseTTL: Duration) {
    self.redis = redis
    self.responseTTL = responseTTL
  }

  public init(deliveries: DeliveryQueue) {
    self.init(redis: deliveries.redis, responseTTL: deliveries.configuration.rpcAnswerTTL)
  }

  /// Claims the key, unless it is in use.
  ///
  /// - Parameters:
  ///   - scope: the caller, the method's path and the key.
  ///   - fingerprint: a digest of the request.
  public func claim(scope: String, fingerprint: String, lease: Duration) async throws(QueueError) -> RPCClaim {
    let owner = RandomBytes.uuid()
    let reply = try await run(
      Scripts.rpcClaim, [key(scope)], [.string(owner), .string(fingerprint), .integer(lease.milliseconds)])
    guard let words = reply.array, let first = words.first?.string else {
      throw .unavailable(.unexpectedReply("rpc_claim"))
    }
    switch first {
    case "new": return .new(owner: owner)
    case "reused": return .reused
    case "done" where words.count == 4:
      return .done(status: Int(words[1].integer ?? 200), code: words[2].string ?? "", body: words[3].bytes ?? [])
    default: return .running
    }
  }

  /// Stores the response of the call that owns the key.
  public func finish(scope: String, owner: String, status: Int, code: String, body: [UInt8]) async throws(QueueError) {
    _ = try await run(
      Scripts.rpcFinish, [key(scope)],
      [
        .string(owner), "done", .integer(Int64(status)), .string(code), .bytes(body),
        .integer(responseTTL.wholeSeconds),
      ])
  }

  /// Stores only the fingerprint of the request, because the response exceeds 64 KiB (`IdempotentCall`): a repeat of the request is
  /// executed again, and another request under the key is refused.
  public func finishWithoutAnswer(scope: String, owner: String) async throws(QueueError) {
    _ = try await run(Scripts.rpcFinish, [key(scope)], [.string(owner), "repeat", 0, "", "", .integer(responseTTL.wholeSeconds)])
  }

  /// Renews the lease from now on, unless another call owns the key.
  public func renew(scope: String, owner: String, lease: Duration) async throws(QueueError) {
    _ = try await run(Scripts.rpcRenew, [key(scope)], [.string(owner), .integer(lease.milliseconds)])
  }

  /// Frees the key, unless another call owns it.
  public func release(scope: String, owner: String) async throws(QueueError) {
    _ = try await run(Scripts.rpcFinish, [key(scope)], [.string(owner), "free", 0, "", "", 0])
  }

  private func run(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument]) async throws(QueueError) -> RedisReply {
    do { return try await script.run(redis, keys, arguments) } catch { throw .unavailable(error) }
  }

  private func key(_ scope: String) -> String {
    let digest = SHA256Digest.hash(scope)
    return Keys.rpc(Shard(Int(digest[0])), digest: Hex.encode(digest))
  }
}
