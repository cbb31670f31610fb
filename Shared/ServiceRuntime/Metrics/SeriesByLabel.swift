import Synchronization

/// The series of a metric by one of its labels, which has few values: looking a series up in the registry costs more than recording.
final class SeriesByLabel: Sendable {
  private let lookUp: @Sendable (String) -> MetricSeries?
  private let known = Mutex<[String: MetricSeries]>([:])

  init(_ lookUp: @escaping @Sendable (String) -> MetricSeries?) { self.lookUp = lookUp }

  subscript(_ label: String) -> MetricSeries? {
    known.withLock { known in
      if let series = known[label] { return series }
      let series = lookUp(label)
      known[label] = series
      return series
    }
  }
}
