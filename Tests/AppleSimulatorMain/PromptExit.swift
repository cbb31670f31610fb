import Foundation
import ServiceLifecycle

/// Ends the process shortly after the signal to stop. Idle connections of clients must not delay it, and there is nothing to
/// save.
struct PromptExit: Service {
  func run() async throws {
    try await gracefulShutdown()
    try? await Task.sleep(for: .milliseconds(300))
    exit(0)
  }
}
