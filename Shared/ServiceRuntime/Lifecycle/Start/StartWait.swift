import AttributionProtocol
import Logging
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
  import Glibc
#endif

/// A dependency that a service requires.
struct StartDependency: Sendable {
  /// Its name in the log and in `/readyz`.
  let name: String
  /// True if an attempt with this error is repeated; other errors end the start at once.
  let isTransient: @Sendable (any Error) -> Bool
  let attempt: @Sendable () async throws -> Void
}

/// Waits at start for required dependencies, so that a service that starts before its Redis does not have to be restarted.
///
/// Meanwhile the internal port answers `/livez` with 200, `/startupz` and `/readyz` with 503, and calls with `unavailable`.
struct StartWait {
  /// The process got a signal to end before it had started.
  struct Ended: Error {}

  /// The time for all dependencies together; zero means no wait.
  let timeout: Duration
  /// Keeps signals that arrive from the beginning of the wait on.
  let signals: EarlySignals
  let logger: Logger
  /// Makes the internal listener with the given responder.
  let listener: (any HTTPResponder) -> any Service
  /// The health of a service that has not started, with the dependency that it waits for.
  let health: (ReadinessCheck) -> Health

  /// Returns when every dependency is available; they are checked in order. Throws the last error when the time is over, and ``Ended``
  /// after SIGTERM or SIGINT.
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

  private func serve(while attempts: StartAttempts) async throws {
    let waiting = health(ReadinessCheck(name: "start") { attempts.waitsFor.map { "waits for \($0)" } })
    // The watch of this group ends with the attempts. `signals` also keeps signals that arrive after that.
    await signals.begin()
    let watch = SignalWatch(signals: await UnixSignalsSequence(trapping: .sigterm, .sigint), note: signals.note)
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
    if signals.wasAskedToEnd { throw Ended() }
    guard let outcome = attempts.outcome else { throw Ended() }
    try outcome.get()
  }
}

/// Ends its group at the first signal.
private struct SignalWatch: Service {
  let signals: UnixSignalsSequence
  let note: @Sendable () -> Void

  func run() async throws {
    for await _ in signals.cancelOnGracefulShutdown() {
      note()
      return
    }
  }
}

/// The responder of the internal port while the service waits.
private struct StartingResponder: HTTPResponder {
  let health: Health

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    (health.admission(request) ?? .response(.error(.unavailable("the service is starting")))).named(request)
  }
}
