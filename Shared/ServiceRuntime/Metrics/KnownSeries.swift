import Synchronization

/// The series of a metric by what its labels are told by, of which there are few: looking a series up in the registry costs more than
/// recording.
public final class KnownSeries<Labels: Hashable & Sendable>: Sendable {
  private let lookUp: @Sendable (Labels) -> MetricSeries?
  private let known = Mutex<[Labels: MetricSeries]>([:])

  public init(_ lookUp: @escaping @Sendable (Labels) -> MetricSeries?) { self.lookUp = lookUp }

  public subscript(_ labels: Labels) -> MetricSeries? {
    known.withLock { known in
      if let series = known[labels] { return series }
      let series = lookUp(labels)
      known[labels] = series
      return series
    }
  }
}
