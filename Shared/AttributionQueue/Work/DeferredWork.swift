import Synchronization

/// What deferred messages wait for (``WorkOutcome/deferred(atMost:while:)``), done beside the work of shards: whoever hangs holds up no shard.
final class DeferredWork: Sendable {
  private struct Job: Sendable {
    let id: DeliveryID
    let work: @Sendable () async -> Void
  }

  /// So much is under way at the most; other messages come again when their time is over.
  private static let most = 4096

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

  /// Begins the work for a message that is delayed by now, and makes that due when it has ended.
  func begin(_ id: DeliveryID, _ work: @escaping @Sendable () async -> Void) {
    let hasRoom = underWay.withLock { underWay in
      guard underWay < Self.most else { return false }
      underWay += 1
      return true
    }
    if hasRoom { begins.yield(Job(id: id, work: work)) }
  }

  /// Does what is begun until its task is cancelled, and what is under way with it.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await job in jobs {
        group.addTask {
          await job.work()
          self.underWay.withLock { $0 -= 1 }
          // Where this fails it comes due by itself.
          _ = try? await self.deliveries.expedite(job.id, in: self.queue)
        }
      }
    }
  }
}
