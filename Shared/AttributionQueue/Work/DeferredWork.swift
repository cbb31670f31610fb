import Synchronization

/// Runs the work that deferred messages wait for (``WorkOutcome/deferred(atMost:while:)``) concurrently with the work of shards, so that
/// work that hangs blocks no shard.
final class DeferredWork: Sendable {
  private struct Job: Sendable {
    let id: DeliveryID
    let work: @Sendable () async -> Void
  }

  /// The maximum number of jobs that run at once. The work of further messages does not run; they are processed again when their delay is
  /// over.
  private static let maxUnderWay = 4096

  private let queue: QueueName
  private let deliveries: DeliveryQueue
  private let jobs: AsyncStream<Job>
  private let begins: AsyncStream<Job>.Continuation
  private let underWay = Mutex(0)

  init(_ queue: QueueName, _ deliveries: DeliveryQueue) {
    self.queue = queue
    self.deliveries = deliveries
    (jobs, begins) = AsyncStream<Job>.makeStream()
  }

  /// Begins the work for a message that was delayed. The message becomes due when the work has ended.
  func begin(_ id: DeliveryID, _ work: @escaping @Sendable () async -> Void) {
    let hasRoom = underWay.withLock { underWay in
      guard underWay < Self.maxUnderWay else { return false }
      underWay += 1
      return true
    }
    if hasRoom { begins.yield(Job(id: id, work: work)) }
  }

  /// Runs jobs until its task is cancelled, which cancels running jobs too.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await job in jobs {
        group.addTask {
          await job.work()
          self.underWay.withLock { $0 -= 1 }
          // If this fails, the message becomes due by its own delay.
          _ = try? await self.deliveries.expedite(job.id, in: self.queue)
        }
      }
    }
  }
}
