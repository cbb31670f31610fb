import Synchronization

/// The series of a metric by what its labels are told by, of which there are few: looking a series up in the registry costs more than
/// recording, and so does making a hash of the labels.
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
