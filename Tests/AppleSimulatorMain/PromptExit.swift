import Foundation
import ServiceLifecycle

/// Ends the process soon after it is told to stop: kept connections of others must not hold it, and there is nothing to
/// save.
struct PromptExit: Service {
  func run() async throws {
    try await gracefulShutdown()
    try? await Task.sleep(for: .milliseconds(300))
    exit(0)
  }
}
