import AttributionProtocol
import Logging
import ServiceLifecycle
import Synchronization

/// Waits at start for what a service cannot work without, so that one that comes up before its Redis does not end and begin again.
///
/// The internal port answers meanwhile: `/livez` with 200, `/startupz` and `/readyz` with 503, calls with `unavailable`.
struct StartWait {
  /// The process was asked to end before the wait was over.
  struct Ended: Error {}

  /// Between two attempts: longer than the Redis client's own pause.
  private static let pause: Duration = .seconds(1)

  let timeout: Duration
  let logger: Logger
  /// The internal listener, in front of the given responder.
  let listener: (any HTTPResponder) -> any Service
  /// Health of a service that has not started, with what it waits for.
  let health: (ReadinessCheck) -> Health

  /// Answers what the attempt found. Attempts are repeated while they fail in a way that may pass and time is left; then the last error
  /// is thrown. Throws ``Ended`` after SIGTERM or SIGINT.
  ///
  /// - Parameter dependency: its name in the log and in `/readyz`.
  func value<Value: Sendable>(
    of dependency: String, mayPass: @escaping @Sendable (any Error) -> Bool, attempt: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    do { return try await attempt() } catch {
      guard timeout > .zero, mayPass(error) else { throw error }
      logger.warning(
        "waiting for \(dependency)", metadata: ["dependency": "\(dependency)", "reason": "\(error)", "limit": "\(timeout)"])
    }
    let attempts = Attempts(
      dependency: dependency, timeout: timeout, pause: Self.pause, logger: logger, mayPass: mayPass, attempt: attempt)
    let waiting = health(ReadinessCheck(name: dependency) { "unavailable" })
    var configuration = ServiceGroupConfiguration(
      services: [
        .init(service: listener(StartingResponder(health: waiting))),
        .init(service: attempts, successTerminationBehavior: .gracefullyShutdownGroup),
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(5)
    try await ServiceGroup(configuration: configuration).run()
    guard let outcome = attempts.outcome.withLock({ $0 }) else { throw Ended() }
    return try outcome.get()
  }

  /// Repeats the attempt; has an outcome unless it was asked to stop before.
  private final class Attempts<Value: Sendable>: Service {
    /// Between two lines of the log.
    private static var reminder: Duration { .seconds(10) }

    let outcome = Mutex<Result<Value, any Error>?>(nil)
    private let dependency: String
    private let timeout: Duration
    private let pause: Duration
    private let logger: Logger
    private let mayPass: @Sendable (any Error) -> Bool
    private let attempt: @Sendable () async throws -> Value

    init(
      dependency: String, timeout: Duration, pause: Duration, logger: Logger, mayPass: @escaping @Sendable (any Error) -> Bool,
      attempt: @escaping @Sendable () async throws -> Value
    ) {
      self.dependency = dependency
      self.timeout = timeout
      self.pause = pause
      self.logger = logger
      self.mayPass = mayPass
      self.attempt = attempt
    }

    func run() async throws {
      let begin = ContinuousClock.now
      await cancelWhenGracefulShutdown {
        var nextLine = begin + Self.reminder
        while (try? await Task.sleep(for: self.pause)) != nil {
          do {
            let value = try await self.attempt()
            self.outcome.withLock { $0 = .success(value) }
            self.logger.info("\(self.dependency) is there", metadata: ["dependency": "\(self.dependency)"])
            return
          } catch {
            guard !Task.isCancelled else { return }
            guard self.mayPass(error), .now + self.pause < begin + self.timeout else {
              self.outcome.withLock { $0 = .failure(error) }
              return
            }
            guard .now >= nextLine else { continue }
            nextLine = .now + Self.reminder
            self.logger.warning(
              "still waiting for \(self.dependency)", metadata: ["dependency": "\(self.dependency)", "reason": "\(error)"])
          }
        }
      }
    }
  }
}

/// What the internal port answers while the service waits.
private struct StartingResponder: HTTPResponder {
  let health: Health

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    health.admission(request) ?? .answer(.error(RPCError(.unavailable, "the service is starting")))
  }
}
