import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Repeats a call until it succeeds or its error is permanent, with growing pauses. It is for work that takes hours, such as a migration.
struct RetryingCaller: Sendable {
  private static let maxPause: Duration = .seconds(30)

  let connection: Connection

  /// - Parameter key: the idempotency key of all attempts.
  func call<Response>(_ method: (CallOptions) async throws(RPCError) -> Response, key: String? = nil) async throws -> Response {
    var pause: Duration = .milliseconds(500)
    while true {
      do throws(RPCError) { return try await method(CallOptions(idempotencyKey: key)) } catch {
        guard Self.isTransient(error) else { throw error }
        let wait = max(pause, error.retryDelay ?? .zero)
        StandardError.write("  waiting \(wait.components.seconds) s: \(error.message)\n")
        try await Task.sleep(for: wait)
        pause = min(Self.maxPause, pause * 2)
      }
    }
  }

  static func isTransient(_ error: RPCError) -> Bool {
    switch error.code {
    case .unavailable, .aborted, .deadlineExceeded: true
    // The error has no retry delay if waiting does not help, such as for a batch that is too large.
    case .resourceExhausted: error.retryDelay != nil
    default: false
    }
  }
}
