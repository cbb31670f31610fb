import Logging
import ServiceLifecycle
import Synchronization

/// Retries the dependencies of a starting service, one after the other, until all are available, one fails with an error that is not
/// transient, or the time is over. ``StartWait`` runs it.
final class StartAttempts: Service {
  /// The pause between attempts. It is longer than the Redis client's pause before it connects again, so that each attempt can succeed.
  private static let pause: Duration = .seconds(1)
  /// The time between log lines about the same dependency.
  private static let logInterval: Duration = .seconds(10)

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

  /// The name of the dependency that is being waited for.
  var waitsFor: String? { state.withLock { $0.waitsFor } }
  /// The result; nil while attempts are being made, and after they were stopped.
  var outcome: Result<Void, any Error>? { state.withLock { $0.outcome } }

  func run() async throws {
    let end = ContinuousClock.now + timeout
    await cancelWhenGracefulShutdown {
      var isFirst = true
      for dependency in self.dependencies {
        self.state.withLock { $0.waitsFor = dependency.name }
        // StartWait has already tried the first dependency and logged the failure.
        guard await self.wait(for: dependency, until: end, failedBefore: isFirst) else { return }
        isFirst = false
      }
      self.state.withLock { $0 = State(outcome: .success(())) }
    }
  }

  /// Returns true when the dependency is available; false if it failed, which sets ``outcome``, or if the task was cancelled.
  private func wait(for dependency: StartDependency, until end: ContinuousClock.Instant, failedBefore: Bool) async -> Bool {
    var nextLogTime = failedBefore ? ContinuousClock.now + Self.logInterval : .now
    var needsPause = failedBefore
    while true {
      if needsPause {
        do { try await Task.sleep(for: Self.pause) } catch { return false }
      }
      needsPause = true
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
        guard .now >= nextLogTime else { continue }
        nextLogTime = .now + Self.logInterval
        logger.warning(
          "waiting for \(dependency.name)", metadata: ["dependency": "\(dependency.name)", "reason": "\(error)"])
      }
    }
  }
}
