import Logging
import RedisClient

/// Moves delayed messages that come due. Sleeps until the next one is due and is woken when an earlier one arrives.
struct DelayedPoller: Sendable {
  /// A bound on the sleep: a process that died between delaying a message and waking us must not delay it for long.
  static let longestSleep: Duration = .seconds(5)

  let queue: QueueName
  let deliveries: DeliveryQueue
  let blocking: RedisClient

  /// Runs until cancelled.
  func run() async {
    while !Task.isCancelled {
      do {
        let next = try await promoteAll()
        let sleep = min(max(next ?? Self.longestSleep.milliseconds, 1), Self.longestSleep.milliseconds)
        let seconds = "\(sleep / 1000).\(String(1000 + sleep % 1000).dropFirst())"
        let reply = try await blocking.send(["BLPOP", .string(Keys.wake(queue)), .string(seconds)])
        // Several wakes mean the same as one.
        if !reply.isNull { _ = try await deliveries.send(["DEL", .string(Keys.wake(queue))]) }
      } catch {
        try? await Task.sleep(for: .milliseconds(.random(in: 100...1000)))
      }
    }
  }

  /// Answers in how many milliseconds the next one is due, nil when none waits.
  func promoteAll() async throws -> Int64? {
    var next: Int64?
    try await withThrowingTaskGroup(of: (Int64, Int64).self) { group in
      for shard in Shard.all {
        group.addTask {
          let reply = try await deliveries.run(
            Scripts.promote, [Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.ready(queue, shard)], [100])
          let values = reply.array ?? []
          return (values.first?.integer ?? 0, values.last?.integer ?? -1)
        }
      }
      for try await (moved, due) in group where due >= 0 || moved == 100 {
        next = min(next ?? .max, moved == 100 ? 0 : due)
      }
    }
    return next
  }
}
