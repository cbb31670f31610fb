import AttributionProtocol
import Logging
import ServiceLifecycle
import Synchronization
import UnixSignals

#if canImport(Glibc)
  import Glibc
#endif

/// What a service cannot work without.
struct StartDependency: Sendable {
  /// Its name in the log and in `/readyz`.
  let name: String
  /// Whether a failed attempt is repeated; other errors end the start at once.
  let mayPass: @Sendable (any Error) -> Bool
  let attempt: @Sendable () async throws -> Void
}

/// Waits at start for what a service cannot work without, so that one that comes up before its Redis does not end and begin again.
///
/// The internal port answers meanwhile: `/livez` with 200, `/startupz` and `/readyz` with 503, calls with `unavailable`.
struct StartWait {
  /// The process was asked to end before it had started.
  struct Ended: Error {}

  /// For all dependencies together; zero waits for none.
  let timeout: Duration
  let logger: Logger
  /// The internal listener, in front of the given responder.
  let listener: (any HTTPResponder) -> any Service
  /// Health of a service that has not started, with what it waits for.
  let health: (ReadinessCheck) -> Health

  /// Returns when every dependency is there, in their order. Throws the last error when the time is over, and ``Ended`` after SIGTERM or
  /// SIGINT.
  func until(_ dependencies: [StartDependency]) async throws {
    var missing = dependencies[...]
    while let next = missing.first {
      do { try await next.attempt() } catch {
        guard timeout > .zero, next.mayPass(error) else { throw error }
        logger.warning(
          "waiting for \(next.name)", metadata: ["dependency": "\(next.name)", "reason": "\(error)", "limit": "\(timeout)"])
        return try await serve(while: StartAttempts(Array(missing), timeout: timeout, logger: logger))
      }
      missing.removeFirst()
    }
  }

  private func serve(while attempts: StartAttempts) async throws {
    let waiting = health(ReadinessCheck(name: "start") { attempts.waitsFor.map { "waits for \($0)" } })
    // The group ends the listener when the attempts are over; a signal that comes meanwhile must not be lost with it.
    let wasAskedToEnd = Atomic(false)
    let signals = SignalWatch(signals: await UnixSignalsSequence(trapping: .sigterm, .sigint)) {
      wasAskedToEnd.store(true, ordering: .sequentiallyConsistent)
    }
    // There is nothing to read anew yet, and the signal would end the process.
    signal(SIGHUP, SIG_IGN)
    defer { signal(SIGHUP, SIG_DFL) }
    var configuration = ServiceGroupConfiguration(
      services: [
        .init(service: listener(StartingResponder(health: waiting))),
        .init(service: attempts, successTerminationBehavior: .gracefullyShutdownGroup),
        .init(service: signals, successTerminationBehavior: .gracefullyShutdownGroup),
      ], logger: logger)
    configuration.maximumGracefulShutdownDuration = .seconds(5)
    try await ServiceGroup(configuration: configuration).run()
    if wasAskedToEnd.load(ordering: .sequentiallyConsistent) { throw Ended() }
    guard let outcome = attempts.outcome else { throw Ended() }
    try outcome.get()
  }
}

/// Ends with the first signal, and watches for it until its group is gone.
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

/// What the internal port answers while the service waits.
private struct StartingResponder: HTTPResponder {
  let health: Health

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    health.admission(request) ?? .answer(.error(RPCError(.unavailable, "the service is starting")))
  }
}
