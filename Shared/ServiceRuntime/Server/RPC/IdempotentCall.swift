import AttributionProtocol
import AttributionQueue
import Cryptography
import Synchronization

/// A call with an `Idempotency-Key`: it is executed once, and its repeats get the response of the first execution.
///
/// The call claims its key in Redis with a lease, runs, and stores its response under the key. A repeat during the execution waits for a
/// short time, and is then answered with `aborted`. After an error such as `unavailable` the key is free again, so a repeat is executed.
struct IdempotentCall {
  let store: RPCIdempotencyStore
  let endpoint: RPCEndpoint
  let context: RPCContext
  let metrics: RPCMetrics

  /// The maximum size of a stored response of a handler that only computes, bytes. If the response is larger, a repeat runs the handler
  /// again.
  static let maxStoredBytes = 64 * 1024

  /// The lease of the key. It is longer than the method may take, so that no other call can claim the key while this one runs.
  private var lease: Duration { max(.seconds(30), endpoint.timeLimit.maximum + .seconds(5)) }

  private enum Claim {
    /// This call has claimed the key, as the owner with this name.
    case own(owner: String)
    /// The stored response and its code.
    case replay(HTTPResponse, code: String)
  }

  /// Runs the work unless a response is stored under the key. Returns the response and its code.
  func run(_ bytes: [UInt8], _ work: () async throws(RPCError) -> [UInt8]) async throws(RPCError) -> (HTTPResponse, String) {
    let scope = "\(context.caller)\n\(endpoint.fullName)\n\(context.idempotencyKey ?? "")"
    let owner: String
    switch try await claim(scope, fingerprint: Hex.encode(SHA256Digest.hash(bytes))) {
    case .replay(let response, let code):
      metrics.idempotency(endpoint.name, "replayed")
      return (response, code)
    case .own(let name): owner = name
    }
    metrics.idempotency(endpoint.name, "new")
    do throws(RPCError) {
      let body = try await runWithLease(scope, owner, work).get()
      if endpoint.isPure, endpoint.idempotency != .keyed, body.count > Self.maxStoredBytes {
        await settle { try await store.finishWithoutAnswer(scope: scope, owner: owner) }
      } else {
        await settle { try await store.finish(scope: scope, owner: owner, status: 200, code: "ok", body: body) }
      }
      return (.json(200, body), "ok")
    } catch {
      if error.code.isSettled {
        await settle {
          try await store.finish(
            scope: scope, owner: owner, status: error.code.httpStatus, code: error.code.rawValue, body: error.json)
        }
      } else {
        await settle { try await store.release(scope: scope, owner: owner) }
      }
      throw error
    }
  }

  /// Runs the work. If it is cancelled, at the call's deadline for example, it may go on for longer than the lease. The lease is therefore
  /// renewed from the cancellation until the work has ended.
  private func runWithLease(
    _ scope: String, _ owner: String, _ work: () async throws(RPCError) -> [UInt8]
  ) async -> Result<[UInt8], RPCError> {
    let renewal = LeaseRenewal()
    let result: Result<[UInt8], RPCError> = await withTaskCancellationHandler {
      do throws(RPCError) { return .success(try await work()) } catch { return .failure(error) }
    } onCancel: { [store, lease] in
      renewal.begin(every: lease / 3) { try? await store.renew(scope: scope, owner: owner, lease: lease) }
    }
    renewal.end()
    return result
  }

  /// Claims the key. If another call has claimed it, waits a short time for that call to end.
  private func claim(_ scope: String, fingerprint: String) async throws(RPCError) -> Claim {
    let waitEnd = min(ContinuousClock.now + .seconds(2), context.deadline)
    while true {
      let found: RPCClaim
      do throws(QueueError) {
        found = try await store.claim(scope: scope, fingerprint: fingerprint, lease: lease)
      } catch {
        throw .unavailable("the store for idempotency keys is unavailable", reason: "STORE_UNAVAILABLE")
      }
      switch found {
      case .new(let owner): return .own(owner: owner)
      case .reused:
        metrics.idempotency(endpoint.name, "reused")
        throw .failedPrecondition("this Idempotency-Key was used for another request", reason: "IDEMPOTENCY_KEY_REUSED")
      case .done(let status, let code, let body):
        var response = HTTPResponse.json(status, body)
        response.headers.add(name: "idempotency-replayed", value: "true")
        return .replay(response, code: code)
      case .running:
        // The sleep throws if the call is cancelled.
        guard ContinuousClock.now < waitEnd, (try? await Task.sleep(for: .milliseconds(50))) != nil else {
          metrics.idempotency(endpoint.name, "in_progress")
          throw RPCError(
            .aborted, "another call with this Idempotency-Key has not ended yet", reason: "IDEMPOTENCY_IN_PROGRESS",
            retryDelay: .seconds(1))
        }
      }
    }
  }

  /// Stores the result. If that fails, the response is returned all the same: the key becomes free when its lease expires, and the method
  /// is safe to repeat.
  private func settle(_ store: @escaping @Sendable () async throws -> Void) async {
    // In a task of its own, because this task may be cancelled, and then the Redis client would not wait for a failover.
    do { try await Task { try await store() }.value } catch {
      context.logger.warning("a response was not stored under its idempotency key")
    }
  }
}

/// Renews a lease in the background, from ``begin(every:_:)`` to ``end()``.
private final class LeaseRenewal: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var isOver = false
  }

  private let state = Mutex(State())

  func begin(every pause: Duration, _ renew: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      guard !state.isOver else { return }
      state.task = Task {
        while !Task.isCancelled {
          await renew()
          try? await Task.sleep(for: pause)
        }
      }
    }
  }

  func end() {
    let task = state.withLock { state -> Task<Void, Never>? in
      state.isOver = true
      return state.task
    }
    task?.cancel()
  }
}

extension RPCCode {
  /// True if an error with this code depends only on the request and on state that does not change, so that repeats get the same response.
  var isSettled: Bool {
    switch self {
    case .unavailable, .aborted, .resourceExhausted, .deadlineExceeded, .canceled, .unauthenticated, .permissionDenied,
      .unknown,
      .internal:
      false
    default: true
    }
  }
}
