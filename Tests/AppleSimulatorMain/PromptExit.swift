import Foundation
import ServiceLifecycle

/// Ends the process shortly after the signal to stop. Open connections of clients would delay a normal end, and there is nothing to save.
struct PromptExit: Service {
  func run() async throws {
    try await gracefulShutdown()
    try? await Task.sleep(for: .milliseconds(300))
    exit(0)
  }
}
