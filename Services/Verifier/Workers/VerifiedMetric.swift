import ServiceRuntime

/// The metric of verified deliveries, by kind and environment.
struct VerifiedMetric: Sendable {
  private struct Labels: Equatable {
    let kind: String
    let environment: String
  }

  private static let name = "attribution_verified_total"
  private let series: KnownSeries<Labels>

  init(_ metrics: MetricsRegistry) {
    metrics.counter(
      Self.name, help: "Verified deliveries, including repeats and repeated processing.",
      labels: ["kind", "environment"])
    series = KnownSeries { metrics.series(Self.name, [$0.kind, $0.environment]) }
  }

  func add(_ kind: String, _ environment: String) { series[Labels(kind: kind, environment: environment)]?.add() }
}
