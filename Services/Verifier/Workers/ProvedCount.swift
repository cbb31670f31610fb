import ServiceRuntime
import Synchronization

/// How many deliveries were proved, by kind and environment.
final class ProvedCount: Sendable {
  private struct Labels: Hashable {
    let kind: String
    let environment: String
  }

  private static let name = "attribution_verified_total"
  private let metrics: MetricsRegistry
  /// Looked up once: this is told of every delivery.
  private let known = Mutex<[Labels: MetricSeries]>([:])

  init(_ metrics: MetricsRegistry) {
    self.metrics = metrics
    metrics.counter(
      Self.name, help: "Proofs of deliveries: repeats of what was counted, and work that is done again, included.",
      labels: ["kind", "environment"])
  }

  func add(_ kind: String, _ environment: String) {
    let labels = Labels(kind: kind, environment: environment)
    let series = known.withLock { (known) -> MetricSeries? in
      if let series = known[labels] { return series }
      let series = metrics.series(Self.name, [kind, environment])
      known[labels] = series
      return series
    }
    series?.add()
  }
}
