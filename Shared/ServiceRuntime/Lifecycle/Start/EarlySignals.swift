import ServiceLifecycle
import Synchronization
import UnixSignals

/// Keeps a signal to end that arrives while the service waits for its dependencies, or between that wait and the service's own handling of
/// signals.
final class EarlySignals: Sendable {
  private let isAsked = Atomic(false)
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  var wasAskedToEnd: Bool { isAsked.load(ordering: .sequentiallyConsistent) }

  /// Watches for signals until the process ends.
  func begin() async {
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    Task { for await _ in signals { note() } }
  }

  func note() {
    isAsked.store(true, ordering: .sequentiallyConsistent)
    continuation.yield()
  }

  /// Returns after a signal, or when the service ends for another reason. May be called once.
  func wait() async {
    for await _ in stream.cancelOnGracefulShutdown() { return }
  }
}

/// Ends the service if a signal came early.
struct EarlySignalWatch: Service {
  let signals: EarlySignals

  func run() async { await signals.wait() }
}
