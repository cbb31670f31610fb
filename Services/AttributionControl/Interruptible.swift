import ServiceRuntime
import UnixSignals

/// Runs work that cleans up when the process is asked to end.
enum Interruptible {
  /// Cancels the work at SIGINT or SIGTERM and waits for its end. It then throws the interrupted failure, unless the work throws another.
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
      // The work's own error is thrown unless it only reports the cancellation.
      do { while try await group.next() != nil {} } catch is CancellationError {} catch let failure as CommandFailure
        where failure.code == ExitStatus.interrupted.rawValue
      {}
      throw CommandFailure(.interrupted, "stopped")
    }
  }
}
