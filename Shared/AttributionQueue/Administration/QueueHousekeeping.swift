/// Runs the periodic tasks of a queue until its own task is cancelled. They begin after a random delay, so that a worker works its backlog
/// first, and so that many workers that start together do not begin them at the same moment.
struct QueueHousekeeping: Sendable {
  let queue: QueueName
  let deliveries: DeliveryQueue

  func run() async {
    do { try await Task.sleep(for: deliveries.configuration.housekeepingDelay * Double.random(in: 0.2...1)) } catch { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await DeadLetterLimit(queue: queue, deliveries: deliveries).run() }
      // Only in these queues are messages leased by consumers of a group in every form of the store.
      if queue.isWorkedByDeadline {
        group.addTask { await QueueConsumer(queue: queue, deliveries: deliveries).removeDeadWorkers() }
      }
    }
  }
}
