import Synchronization

/// Notes shards in which something is new, many in one step: of those that come while a note is under way the next one tells.
final class PendingNotes: Sendable {
  private struct State {
    var shards: [QueueName: Set<Shard>] = [:]
    var isUnderWay = false
  }
  private let state = Mutex(State())

  /// Returns at once. What is never noted, because this process ends or Redis is away for longer than it is tried, is found when all
  /// shards are looked at.
  func add(_ shard: Shard, of queue: QueueName, in deliveries: DeliveryQueue) {
    let begins = state.withLock { state in
      state.shards[queue, default: []].insert(shard)
      defer { state.isUnderWay = true }
      return !state.isUnderWay
    }
    if begins { Task { await noteAll(deliveries) } }
  }

  private func noteAll(_ deliveries: DeliveryQueue) async {
    var failures = 0
    while let (queue, shards) = next() {
      do {
        try await deliveries.schedule(queue).note(shards, due: DeliveryQueue.now)
        failures = 0
      } catch {
        failures += 1
        guard failures < 50 else { continue }
        state.withLock { $0.shards[queue, default: []].formUnion(shards) }
        try? await Task.sleep(for: .milliseconds(.random(in: 50...500)))
      }
    }
  }

  private func next() -> (QueueName, Set<Shard>)? {
    state.withLock { state in
      guard let (queue, shards) = state.shards.first else {
        state.isUnderWay = false
        return nil
      }
      state.shards[queue] = nil
      return (queue, shards)
    }
  }
}
