import ServiceRuntime
import UnixSignals

/// Work that cleans up behind itself when it is told to end.
enum Interruptible {
  /// Cancels the work at SIGINT or SIGTERM and waits for its end; it then ends as interrupted, unless it says otherwise.
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
      // Its own reason counts only where it is more than that it was ended.
      do { while try await group.next() != nil {} } catch is CancellationError {} catch let failure as CommandFailure
        where failure.code == ExitStatus.interrupted.rawValue
      {}
      throw CommandFailure(.interrupted, "stopped")
    }
  }
}
