/// What is to be done now and again beside the work of a queue, until its task is cancelled. It begins when a worker that was started has
/// come to what waited for it, and not at one moment where many were started.
struct QueueHousekeeping: Sendable {
  let queue: QueueName
  let deliveries: DeliveryQueue

  func run() async {
    do { try await Task.sleep(for: deliveries.configuration.housekeepingDelay * Double.random(in: 0.2...1)) } catch { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await DeadLetterLimit(queue: queue, deliveries: deliveries).run() }
      // Where messages are leased one by one in every form.
      if queue.isWorkedByDeadline {
        group.addTask { await QueueConsumer(queue: queue, deliveries: deliveries).forgetTheDead() }
      }
    }
  }
}
