import Logging
import RedisClient

/// Moves delayed messages that come due. Sleeps until the next one is due and is woken when an earlier one arrives: while nothing is
/// due, nothing is asked. All pollers of a queue wait for the same moment, so that the end of one makes no message late.
struct DelayedPoller: Sendable {
  /// A blocking read has an end, or a connection that broke in silence would stay unnoticed.
  static let longestSleep: Duration = .seconds(30)
  /// How long a look at a shard may take until another poller looks too.
  static let longestLook: Duration = .seconds(5)
  /// All shards are looked at when a poller starts, and this often in case Redis lost what was noted.
  static let wholeLook: Duration = .seconds(600)

  let queue: QueueName
  let deliveries: DeliveryQueue
  let blocking: RedisClient

  /// Runs until cancelled.
  func run() async {
    var lastWholeLook: ContinuousClock.Instant?
    while !Task.isCancelled {
      do {
        if lastWholeLook.map({ $0.duration(to: .now) >= Self.wholeLook }) ?? true {
          try await look(at: Shard.all)
          lastWholeLook = .now
        }
        let (next, wake) = try await lookAtDue()
        let sleep = min(max(next ?? Self.longestSleep.milliseconds, 1), Self.longestSleep.milliseconds)
        _ = try await blocking.send(["XREAD", "COUNT", "1", "BLOCK", .integer(sleep), "STREAMS", .string(Keys.wakes(queue)), .string(wake)])
      } catch {
        try? await Task.sleep(for: .milliseconds(.random(in: 100...1000)))
      }
    }
  }

  /// Moves what is due. Answers in how many milliseconds the next one is due, nil when none waits, and the wakes that it has seen.
  func lookAtDue() async throws -> (next: Int64?, wake: String) {
    while true {
      let reply = try await deliveries.run(
        Scripts.due, [Keys.schedule(queue), Keys.wakes(queue)], [.integer(Self.longestLook.milliseconds)])
      guard let parts = reply.array, parts.count == 3, let next = parts[0].integer, let wake = parts[1].string,
        let shards = parts[2].array
      else { throw QueueError.unavailable(.unexpectedReply("due")) }
      guard shards.isEmpty else {
        try await look(at: shards.compactMap { $0.integer.map { Shard(Int($0)) } })
        continue
      }
      return (next < 0 ? nil : next, wake)
    }
  }

  /// Moves what is due in these shards and notes when they must be looked at again.
  private func look(at shards: [Shard]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for shard in shards {
        group.addTask {
          let reply = try await deliveries.run(
            Scripts.promote, [Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.ready(queue, shard)], [100])
          guard let next = reply.array?.last?.integer else { throw QueueError.unavailable(.unexpectedReply("promote")) }
          _ = try await deliveries.run(
            Scripts.schedule, [Keys.schedule(queue), Keys.wakes(queue)], [.integer(Int64(shard.index)), .integer(next), "1"])
        }
      }
      try await group.waitForAll()
    }
  }
}
