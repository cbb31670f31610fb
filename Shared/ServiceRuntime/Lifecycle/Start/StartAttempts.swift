import Logging
import ServiceLifecycle
import Synchronization

/// Retries the dependencies of a starting service until all succeed, one fails for good, or the time is over.
final class StartAttempts: Service {
  /// The pause between attempts. It is longer than the pause between the Redis client's own attempts to connect.
  private static let pause: Duration = .seconds(1)
  /// The pause between log lines.
  private static let reminder: Duration = .seconds(10)

  private struct State {
    var waitsFor: String?
    var outcome: Result<Void, any Error>?
  }

  private let dependencies: [StartDependency]
  private let timeout: Duration
  private let logger: Logger
  private let state: Mutex<State>

  init(_ dependencies: [StartDependency], timeout: Duration, logger: Logger) {
    self.dependencies = dependencies
    self.timeout = timeout
    self.logger = logger
    state = Mutex(State(waitsFor: dependencies.first?.name))
  }

  /// The dependency that is being waited for.
  var waitsFor: String? { state.withLock { $0.waitsFor } }
  /// The result; nil while attempts are made, and if they were stopped.
  var outcome: Result<Void, any Error>? { state.withLock { $0.outcome } }

  func run() async throws {
    let end = ContinuousClock.now + timeout
    await cancelWhenGracefulShutdown {
      var isFirst = true
      for dependency in self.dependencies {
        self.state.withLock { $0.waitsFor = dependency.name }
        // ``StartWait`` has tried the first dependency already, and logged the failure.
        guard await self.wait(for: dependency, until: end, failedBefore: isFirst) else { return }
        isFirst = false
      }
      self.state.withLock { $0 = State(outcome: .success(())) }
    }
  }

  /// True if the dependency is available; false if the result is final or the task was cancelled.
  private func wait(for dependency: StartDependency, until end: ContinuousClock.Instant, failedBefore: Bool) async -> Bool {
    var nextLine = failedBefore ? ContinuousClock.now + Self.reminder : .now
    var pauses = failedBefore
    while true {
      if pauses {
        do { try await Task.sleep(for: Self.pause) } catch { return false }
      }
      pauses = true
      do {
        try await dependency.attempt()
        logger.info("\(dependency.name) is available", metadata: ["dependency": "\(dependency.name)"])
        return true
      } catch {
        guard !Task.isCancelled else { return false }
        guard dependency.isTransient(error), .now + Self.pause < end else {
          state.withLock { $0.outcome = .failure(error) }
          return false
        }
        guard .now >= nextLine else { continue }
        nextLine = .now + Self.reminder
        logger.warning(
          "waiting for \(dependency.name)", metadata: ["dependency": "\(dependency.name)", "reason": "\(error)"])
      }
    }
  }
}
