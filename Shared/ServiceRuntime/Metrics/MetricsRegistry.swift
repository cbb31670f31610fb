import Synchronization

/// All metrics of the process. A metric must be declared before values are recorded, because values of unknown metrics are dropped. Labels
/// must have a limited number of values.
///
/// ```swift
/// registry.counter(name, help: "What is counted.", labels: ["outcome"])
/// registry.add(name, 1, ["refused"])
/// ```
public final class MetricsRegistry: Sendable {
  private struct Family {
    let kind: String
    let help: String
    let labels: [String]
    let bounds: [Double]
    var series: [[String]: MetricSeries] = [:]
  }

  private let families = Mutex<[String: Family]>([:])
  private let collectors = Mutex<[@Sendable () async -> Void]>([])

  /// The default bounds of histograms: of durations in seconds.
  public static let durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  /// The bounds of histograms of sizes in bytes.
  public static let sizeBounds: [Double] = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]

  public init() {}

  /// Declares a counter. A second declaration of the same name changes nothing.
  public func counter(_ name: String, help: String, labels: [String] = []) {
    declare(name, "counter", help, labels, [])
  }

  /// Declares a gauge.
  public func gauge(_ name: String, help: String, labels: [String] = []) { declare(name, "gauge", help, labels, []) }

  /// Declares a histogram with the upper bounds of its buckets.
  public func histogram(_ name: String, help: String, labels: [String] = [], bounds: [Double] = durationBounds) {
    declare(name, "histogram", help, labels, bounds)
  }

  private func declare(_ name: String, _ kind: String, _ help: String, _ labels: [String], _ bounds: [Double]) {
    families.withLock { families in
      if families[name] == nil { families[name] = Family(kind: kind, help: help, labels: labels, bounds: bounds) }
      // A metric without labels is exposed with 0 from the beginning.
      if labels.isEmpty, kind != "histogram", families[name]?.series.isEmpty == true {
        families[name]?.series[[]] = MetricSeries(labels: [], bounds: [])
      }
    }
  }

  /// The series with these label values, created at the first call; nil if the name was not declared.
  public func series(_ name: String, _ labels: [String] = []) -> MetricSeries? {
    families.withLock { families in
      guard let family = families[name] else { return nil }
      if let series = family.series[labels] { return series }
      let series = MetricSeries(labels: labels, bounds: family.bounds)
      families[name]!.series[labels] = series
      return series
    }
  }

  /// Removes a series. It is no longer exposed until a value is recorded again.
  public func remove(_ name: String, _ labels: [String]) {
    families.withLock { families in
      guard families[name] != nil else { return }
      families[name]!.series[labels] = nil
    }
  }

  /// Adds to a counter or gauge.
  public func add(_ name: String, _ amount: Double = 1, _ labels: [String] = []) { series(name, labels)?.add(amount) }

  /// Sets a gauge, or a counter whose total is known from elsewhere.
  public func set(_ name: String, _ value: Double, _ labels: [String] = []) { series(name, labels)?.set(value) }

  /// Records an observation of a histogram.
  public func observe(_ name: String, _ value: Double, _ labels: [String] = []) { series(name, labels)?.observe(value) }

  /// Adds a closure that runs before each scrape, for metrics whose values must be queried.
  public func collect(_ collector: @escaping @Sendable () async -> Void) {
    collectors.withLock { $0.append(collector) }
  }

  /// All metrics in the given format.
  func exposition(_ format: ExpositionFormat) async -> String {
    // The collectors run concurrently, so that a scrape takes only as long as the slowest of them.
    await withDiscardingTaskGroup { group in
      for collector in collectors.withLock({ $0 }) { group.addTask { await collector() } }
    }
    return families.withLock { families in
      var writer = MetricsWriter(format)
      for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
        writer.begin(name, kind: family.kind, help: family.help)
        for (values, series) in family.series.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
          writer.write(series.current, labels: Array(zip(family.labels, values)), bounds: family.bounds)
        }
      }
      return writer.finished
    }
  }

  /// All metrics in Prometheus' text format.
  public func text() async -> String { await exposition(.prometheus) }
}
