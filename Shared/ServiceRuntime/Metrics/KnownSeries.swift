import Synchronization

/// A cache of the series of a metric with few label values. Looking a series up in the registry, or hashing its labels, costs more than
/// recording a value.
public final class KnownSeries<Labels: Equatable & Sendable>: Sendable {
  private struct Known {
    var labels: [Labels] = []
    var series: [MetricSeries?] = []
  }

  private let lookUp: @Sendable (Labels) -> MetricSeries?
  private let known = Mutex(Known())

  public init(_ lookUp: @escaping @Sendable (Labels) -> MetricSeries?) { self.lookUp = lookUp }

  public subscript(_ labels: Labels) -> MetricSeries? {
    known.withLock { known in
      for place in known.labels.indices where known.labels[place] == labels { return known.series[place] }
      let series = lookUp(labels)
      known.labels.append(labels)
      known.series.append(series)
      return series
    }
  }
}
