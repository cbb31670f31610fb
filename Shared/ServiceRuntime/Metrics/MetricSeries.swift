import Synchronization

/// One series of a metric, looked up once and kept by what records often: looking it up costs more than recording.
public final class MetricSeries: Sendable {
  struct Values {
    var value: Double = 0
    /// Observations in each bucket alone, not in those below it.
    var buckets: [UInt64] = []
    var count: UInt64 = 0
  }

  let labels: [String]
  private let bounds: [Double]
  private let values: Mutex<Values>

  init(labels: [String], bounds: [Double]) {
    self.labels = labels
    self.bounds = bounds
    values = Mutex(Values(buckets: Array(repeating: 0, count: bounds.count)))
  }

  /// Adds to a counter or gauge.
  public func add(_ amount: Double = 1) { values.withLock { $0.value += amount } }

  /// Sets a gauge.
  public func set(_ value: Double) { values.withLock { $0.value = value } }

  /// Records an observation of a histogram.
  public func observe(_ value: Double) {
    values.withLock { values in
      values.value += value
      values.count += 1
      if let index = bounds.firstIndex(where: { value <= $0 }) { values.buckets[index] += 1 }
    }
  }

  var present: Values { values.withLock { $0 } }
}
