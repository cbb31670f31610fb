import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Repeats a call while its error is transient. It is for work that takes hours.
struct RetryingCaller: Sendable {
  private static let maxPause: Duration = .seconds(30)

  let connection: Connection

  func ask<Response>(_ question: (CallOptions) async throws(RPCError) -> Response, key: String? = nil) async throws -> Response {
    var pause: Duration = .milliseconds(500)
    while true {
      do throws(RPCError) { return try await question(CallOptions(idempotencyKey: key)) } catch {
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
    // A limit that waiting does not lift has no retry delay.
    case .resourceExhausted: error.retryDelay != nil
    default: false
    }
  }
}
