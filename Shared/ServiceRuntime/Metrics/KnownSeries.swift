import Synchronization

/// A cache of the series of a metric that has few combinations of label values. It compares the labels one after the other, because looking
/// up a series in the registry, or hashing its labels, costs more than recording a value.
public final class KnownSeries<Labels: Equatable & Sendable>: Sendable {
  private struct Known {
    var labels: [Labels] = []
    var series: [MetricSeries?] = []
  }

  private let lookUp: @Sendable (Labels) -> MetricSeries?
  private let known = Mutex(Known())

  public init(_ lookUp: @escaping @Sendable (Labels) -> MetricSeries?) { self.lookUp = lookUp }

  /// The series with these labels; nil if `lookUp` returned nil for them.
  public subscript(_ labels: Labels) -> MetricSeries? {
    known.withLock { known in
      for index in known.labels.indices where known.labels[index] == labels { return known.series[index] }
      let series = lookUp(labels)
      known.labels.append(labels)
      known.series.append(series)
      return series
    }
  }
}
