import ServiceLifecycle
import Synchronization
import UnixSignals

/// Remembers a signal to end (SIGTERM or SIGINT) that arrives while the service waits for its dependencies, or between that wait and the
/// moment at which the service's own group handles signals.
final class EarlySignals: Sendable {
  private let wasReceived = Atomic(false)
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  /// True if a signal has arrived.
  var hasSignal: Bool { wasReceived.load(ordering: .sequentiallyConsistent) }

  /// Begins to watch for signals, until the process ends.
  func beginWatching() async {
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    Task { for await _ in signals { record() } }
  }

  /// Remembers that a signal has arrived.
  func record() {
    wasReceived.store(true, ordering: .sequentiallyConsistent)
    continuation.yield()
  }

  /// Returns when a signal arrives or has arrived, or when the service ends for another reason. May be called once.
  func wait() async {
    for await _ in stream.cancelOnGracefulShutdown() { return }
  }
}

/// A service whose end, after an early signal, ends the whole group.
struct EarlySignalWatch: Service {
  let signals: EarlySignals

  func run() async { await signals.wait() }
}
