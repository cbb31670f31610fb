import AttributionQueue
import Logging
import ServiceRuntime

/// Searches periodically for subscriptions that had no notification after their end (the gap rule `silence`,
/// ``SubscriptionHistory/silence(at:after:)``). Several instances may search
/// concurrently, because a gap that is found twice counts once.
struct SilenceSweep: Sendable {
  private static let found = "attribution_subscription_silences_total"

  let lifecycle: SubscriptionLifecycle
  /// The interval between searches.
  let interval: Duration
  /// The maximum number of subscriptions of a shard that a search examines. The others are examined in the next searches.
  let limit: Int
  let metrics: MetricsRegistry
  let logger: Logger

  init(lifecycle: SubscriptionLifecycle, interval: Duration, limit: Int, metrics: MetricsRegistry, logger: Logger) {
    self.lifecycle = lifecycle
    self.interval = interval
    self.limit = limit
    self.metrics = metrics
    self.logger = logger
    metrics.counter(Self.found, help: "Subscriptions without a notification after their expiry.")
  }

  /// Searches until its task is cancelled.
  func run() async {
    while true {
      do { try await Task.sleep(for: interval) } catch { return }
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
        // A newer version has written the history, and instances of that version examine it.
        try await lifecycle.store.postpone(silent, to: now + max(1000, lifecycle.store.silence))
      }
    }
    return count
  }
}
