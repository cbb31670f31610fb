import Synchronization

/// Coalesces writes to the schedule: shards that change while a write is in flight are written together by the next one.
final class ScheduleWriteCoalescer: Sendable {
  private struct State {
    /// The times to write, milliseconds since 1970.
    var due: [QueueName: [Shard: Int64]] = [:]
    /// True while a task writes.
    var isUnderWay = false

    mutating func add(_ shards: [Shard: Int64], of queue: QueueName) {
      due[queue, default: [:]].merge(shards) { min($0, $1) }
    }
  }
  private let state = Mutex(State())

  /// Schedules a query of the shard at the given time, milliseconds since 1970. Returns without waiting. If the write is lost, because this
  /// process ends or Redis is unavailable for too long, the periodic query of all shards finds the message.
  func add(_ shard: Shard, due: Int64, of queue: QueueName, in deliveries: DeliveryQueue) {
    let begins = state.withLock { state in
      state.add([shard: due], of: queue)
      defer { state.isUnderWay = true }
      return !state.isUnderWay
    }
    if begins { Task { await writeAll(deliveries) } }
  }

  private func writeAll(_ deliveries: DeliveryQueue) async {
    var failures = 0
    while let (queue, shards) = next() {
      do {
        try await deliveries.schedule(queue).note(shards)
        failures = 0
      } catch {
        failures += 1
        // After many failures in a row, the write is given up.
        guard failures < 50 else { continue }
        state.withLock { $0.add(shards, of: queue) }
        try? await Task.sleep(for: .milliseconds(.random(in: 50...500)))
      }
    }
  }

  private func next() -> (QueueName, [Shard: Int64])? {
    state.withLock { state in
      guard let (queue, shards) = state.due.first else {
        state.isUnderWay = false
        return nil
      }
      state.due[queue] = nil
      return (queue, shards)
    }
  }
}
