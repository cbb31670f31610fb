import ServiceLifecycle
import Synchronization

/// Retries deliveries whose first attempt failed. A reset drops earlier deliveries.
public final class RetryingSender: Service, Sendable {
  private typealias Work = @Sendable () async -> Void
  private let stream: AsyncStream<Work>
  private let continuation: AsyncStream<Work>.Continuation
  private let generation = Atomic<Int>(0)
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
  public func reset() { generation.add(1, ordering: .sequentiallyConsistent) }

  /// Makes attempts until one succeeds: the first immediately, the others after `waits` (simulated milliseconds). With
  /// `awaitingFirst`, it returns after the first attempt.
  func deliver(waits: [Double], awaitingFirst: Bool, attempt: @escaping @Sendable () async -> Bool) async {
    let mine = generation.load(ordering: .sequentiallyConsistent)
    if awaitingFirst, await attempt() { return }
    let skipped = awaitingFirst
    continuation.yield { [self] in
      if !skipped, await attempt() { return }
      for wait in waits {
        do { try await time.sleep(simulatedMilliseconds: wait) } catch { return }
        guard generation.load(ordering: .sequentiallyConsistent) == mine else { return }
        if await attempt() { return }
      }
    }
  }
}
