import Synchronization

/// Runs the work that deferred messages wait for (``WorkOutcome/deferred(atMost:while:)``) concurrently with the work of shards, so that
/// work that hangs blocks no shard.
final class DeferredWork: Sendable {
  private struct Job: Sendable {
    let id: DeliveryID
    let work: @Sendable () async -> Void
  }

  /// The maximum number of jobs that run at once. Further jobs do not run, and their messages are processed again when their delay is over.
  private static let maxRunning = 4096

  private let queue: QueueName
  private let deliveries: DeliveryQueue
  private let jobs: AsyncStream<Job>
  private let jobInput: AsyncStream<Job>.Continuation
  /// The number of jobs that run or wait in the stream.
  private let running = Mutex(0)

  init(_ queue: QueueName, _ deliveries: DeliveryQueue) {
    self.queue = queue
    self.deliveries = deliveries
    (jobs, jobInput) = AsyncStream<Job>.makeStream()
  }

  /// Begins the work of a message that was delayed. The message becomes due when the work has ended.
  func begin(_ id: DeliveryID, _ work: @escaping @Sendable () async -> Void) {
    let isAdmitted = running.withLock { running in
      guard running < Self.maxRunning else { return false }
      running += 1
      return true
    }
    if isAdmitted { jobInput.yield(Job(id: id, work: work)) }
  }

  /// Runs jobs until its task is cancelled, which cancels running jobs too.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await job in jobs {
        group.addTask {
          await job.work()
          self.running.withLock { $0 -= 1 }
          // If this fails, the message becomes due at the end of its delay.
          _ = try? await self.deliveries.expedite(job.id, in: self.queue)
        }
      }
    }
  }
}
