import AttributionQueue
import Logging
import ServiceRuntime

/// Periodically searches for subscriptions without notifications past their end. Several instances may search concurrently, because a gap
/// found twice is one gap.
struct SilenceSweep: Sendable {
  private static let found = "attribution_subscription_silences_total"

  let lifecycle: SubscriptionLifecycle
  let pause: Duration
  /// The greatest number of subscriptions of a shard in one search; the others wait for the next one.
  let limit: Int
  let metrics: MetricsRegistry
  let logger: Logger

  init(lifecycle: SubscriptionLifecycle, pause: Duration, limit: Int, metrics: MetricsRegistry, logger: Logger) {
    self.lifecycle = lifecycle
    self.pause = pause
    self.limit = limit
    self.metrics = metrics
    self.logger = logger
    metrics.counter(Self.found, help: "Subscriptions without a notification after their expiry.")
  }

  /// Searches until its task is cancelled.
  func run() async {
    while true {
      do { try await Task.sleep(for: pause) } catch { return }
      do {
        let count = try await sweep(at: WallClock.now())
        if count > 0 { metrics.add(Self.found, Double(count)) }
      } catch is CancellationError {
        return
      } catch {
        logger.debug("the search for silent subscriptions failed", metadata: ["reason": "\(error)"])
      }
    }
  }

  /// Searches all shards once. Returns the number of silent subscriptions.
  func sweep(at now: Int64) async throws -> Int {
    let due = try await withThrowingTaskGroup(of: [SubscriptionStore.SilentSubscription].self) { group in
      for shard in Shard.all { group.addTask { try await lifecycle.store.silent(in: shard, at: now, limit: limit) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    var count = 0
    for silent in due {
      try Task.checkCancellation()
      do { if try await lifecycle.checkSilence(of: silent, at: now) { count += 1 } } catch is SubscriptionStore.Unreadable {
        // Stored by a newer version, and left to it.
        try await lifecycle.store.postpone(silent, to: now + max(1000, lifecycle.store.silence))
      }
    }
    return count
  }
}
