import AttributionProtocol
import Logging
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
  import Glibc
#endif

/// A dependency that must be available before a service starts.
struct StartDependency: Sendable {
  /// The dependency's name in the log and in `/readyz`.
  let name: String
  /// True for an error after which the attempt is repeated. Any other error ends the start at once.
  let isTransient: @Sendable (any Error) -> Bool
  /// Connects to the dependency or calls it. Throws if it is not available.
  let attempt: @Sendable () async throws -> Void
}

/// Waits at the start for required dependencies, so that a service that starts before its Redis does not have to be restarted.
///
/// During the wait, the internal port answers `/livez` with 200, `/startupz` and `/readyz` with 503, and calls with `unavailable`.
struct StartWait {
  /// The error if a signal to end arrived before the service had started.
  struct Ended: Error {}

  /// The time limit for all dependencies together. With zero, each dependency is tried once.
  let timeout: Duration
  /// Remembers signals to end that arrive after the wait has begun.
  let signals: EarlySignals
  let logger: Logger
  /// Makes the listener of the internal port with the given responder.
  let listener: (any HTTPResponder) -> any Service
  /// Makes the ``Health`` of the starting service. The check reports the dependency that is being waited for.
  let health: (ReadinessCheck) -> Health

  /// Tries the dependencies in order, and returns when all are available. Throws an error that is not transient at once, a transient one
  /// when the time is over, and ``Ended`` after SIGTERM or SIGINT.
  func until(_ dependencies: [StartDependency]) async throws {
    var missing = dependencies[...]
    while let next = missing.first {
      do { try await next.attempt() } catch {
        guard timeout > .zero, next.isTransient(error) else { throw error }
        logger.warning(
          "waiting for \(next.name)", metadata: ["dependency": "\(next.name)", "reason": "\(error)", "limit": "\(timeout)"])
        return try await serve(while: StartAttempts(Array(missing), timeout: timeout, logger: logger))
      }
      missing.removeFirst()
    }
  }

  /// Serves the internal port until the attempts have ended or a signal arrives.
  private func serve(while attempts: StartAttempts) async throws {
    let waiting = health(ReadinessCheck(name: "start") { attempts.waitsFor.map { "waits for \($0)" } })
    // SignalWatch ends together with this group of services. EarlySignals goes on watching, for a signal that arrives after that.
    await signals.beginWatching()
    let watch = SignalWatch(signals: await UnixSignalsSequence(trapping: .sigterm, .sigint), onSignal: signals.record)
    // SIGHUP is ignored: nothing can be reloaded yet, and the signal would end the process.
    signal(SIGHUP, SIG_IGN)
    defer { signal(SIGHUP, SIG_DFL) }
    var configuration = ServiceGroupConfiguration(
      services: [
        .init(service: listener(StartingResponder(health: waiting))),
        .init(service: attempts, successTerminationBehavior: .gracefullyShutdownGroup),
        .init(service: watch, successTerminationBehavior: .gracefullyShutdownGroup),
      ], logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(5)
    try await ServiceGroup(configuration: configuration).run()
    if signals.hasSignal { throw Ended() }
    guard let outcome = attempts.outcome else { throw Ended() }
    try outcome.get()
  }
}

/// Ends its group at the first signal.
private struct SignalWatch: Service {
  let signals: UnixSignalsSequence
  let onSignal: @Sendable () -> Void

  func run() async throws {
    for await _ in signals.cancelOnGracefulShutdown() {
      onSignal()
      return
    }
  }
}

/// The responder of the internal port while the service waits.
private struct StartingResponder: HTTPResponder {
  let health: Health

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    (health.admission(request) ?? .response(.error(.unavailable("the service is starting")))).addingRequestID(of: request)
  }
}
