import ServiceRuntime
import UnixSignals

/// Runs work that must clean up before the process ends, such as deleting a subscription.
enum Interruptible {
  /// Cancels the work at SIGINT or SIGTERM and waits until it has ended. Then throws a failure with the exit code `interrupted`, or the
  /// work's own error if it is more than a report of the cancellation.
  static func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await work()
        return false
      }
      group.addTask {
        for await _ in signals { return true }
        return false
      }
      let wasInterrupted = try await group.next() ?? false
      group.cancelAll()
      guard wasInterrupted else { return }
      do { while try await group.next() != nil {} } catch is CancellationError {} catch let failure as CommandFailure
        where failure.code == ExitStatus.interrupted.rawValue
      {}
      throw CommandFailure(.interrupted, "stopped")
    }
  }
}
