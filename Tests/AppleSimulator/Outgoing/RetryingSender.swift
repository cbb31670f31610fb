import ServiceLifecycle
import Synchronization

/// Makes the attempts of deliveries in the background until one succeeds. A reset drops the deliveries that wait for their next attempt.
public final class RetryingSender: Service, Sendable {
  private typealias Work = @Sendable () async -> Void
  private let stream: AsyncStream<Work>
  private let continuation: AsyncStream<Work>.Continuation
  /// The number of resets. A delivery ends if it has changed since the delivery began.
  private let resets = Atomic<Int>(0)
  let time: SimulatedTime

  public init(time: SimulatedTime) {
    self.time = time
    (stream, continuation) = AsyncStream.makeStream()
  }

  public func run() async throws {
    await withDiscardingTaskGroup { group in
      for await work in stream.cancelOnGracefulShutdown() { group.addTask { await work() } }
      group.cancelAll()
    }
  }

  /// Drops all waiting deliveries.
  public func reset() { resets.add(1, ordering: .sequentiallyConsistent) }

  /// Makes attempts until one succeeds: the first immediately, the others each after one of the `waits`.
  ///
  /// - Parameters:
  ///   - waits: simulated milliseconds.
  ///   - awaitingFirst: true to return after the first attempt, false to return immediately.
  ///   - attempt: makes an attempt. Returns true if it succeeds.
  func deliver(waits: [Double], awaitingFirst: Bool, attempt: @escaping @Sendable () async -> Bool) async {
    let resetsAtStart = resets.load(ordering: .sequentiallyConsistent)
    if awaitingFirst, await attempt() { return }
    continuation.yield { [self] in
      if !awaitingFirst, await attempt() { return }
      for wait in waits {
        do { try await time.sleep(simulatedMilliseconds: wait) } catch { return }
        guard resets.load(ordering: .sequentiallyConsistent) == resetsAtStart else { return }
        if await attempt() { return }
      }
    }
  }
}
