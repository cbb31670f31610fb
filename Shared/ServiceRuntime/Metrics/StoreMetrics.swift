import RedisClient
import Synchronization

/// The metrics `attribution_store_*` about Redis, as the Redis client reports them.
final class StoreMetrics: RedisObserver {
  private static let duration = "attribution_store_command_duration_seconds"
  private static let errors = "attribution_store_errors_total"
  private static let redirections = "attribution_store_redirections_total"
  private static let connections = "attribution_store_connections_total"

  private let registry: MetricsRegistry
  private let pending = PendingCount()
  private let durations: KnownSeries<String>

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    durations = KnownSeries { registry.series(Self.duration, [$0]) }
    registry.gauge("attribution_store_connected", help: "Whether a connection to Redis is open.")
    registry.histogram(
      Self.duration, help: "Time from a command to its reply; scripts are listed by name.", labels: ["command"],
      bounds: [0.0001, 0.00025, 0.0005] + MetricsRegistry.durationBounds)
    registry.counter(Self.errors, help: "Commands that failed.", labels: ["kind"])
    registry.counter(
      Self.redirections, help: "Commands that Redis refused and that were sent again: moved, ask, try_again, unsettled.", labels: ["kind"])
    registry.counter(Self.connections, help: "Connections opened to Redis, including reconnections.")
    registry.gauge("attribution_store_pipeline_depth", help: "Commands that are waiting for a reply.")
    registry.collect { [pending] in registry.set("attribution_store_pipeline_depth", Double(pending.value)) }
  }

  func sent() { pending.add(1) }

  func answered(_ command: String, seconds: Double) {
    pending.add(-1)
    durations[command]?.observe(seconds)
  }

  func failed(_ kind: String) { registry.add(Self.errors, 1, [kind]) }

  func connected() { registry.add(Self.connections) }

  func redirected(_ kind: String) { registry.add(Self.redirections, 1, [kind]) }
}

/// A number that event loops change and the metrics collector reads.
private final class PendingCount: Sendable {
  private let count = Atomic(0)

  var value: Int { count.load(ordering: .relaxed) }
  func add(_ amount: Int) { count.add(amount, ordering: .relaxed) }
}
