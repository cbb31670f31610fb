import Synchronization
public import Traces

/// One series of a metric: one combination of label values. Code that records often stores the series, because looking it up in the
/// ``MetricsRegistry`` costs more than recording.
public final class MetricSeries: Sendable {
  struct Values {
    /// The value of a counter or gauge, or the sum of a histogram's observations.
    var value: Double = 0
    /// The number of observations in each bucket, without those of lower buckets.
    var buckets: [UInt64] = []
    var count: UInt64 = 0
    /// The newest traced observation of each bucket, with the bucket above all bounds last; empty until there is a traced observation.
    var exemplars: [Exemplar?] = []
  }

  /// An observation with the span to which it belongs, so that a reader of metrics finds a trace.
  struct Exemplar: Sendable {
    let context: SpanContext
    let value: Double
    /// Seconds since 1970.
    let time: Double
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
  ///
  /// - Parameter span: the span of the observed operation, if its trace is recorded.
  public func observe(_ value: Double, of span: Span? = nil) {
    values.withLock { values in
      values.value += value
      values.count += 1
      let index = bounds.firstIndex { value <= $0 }
      if let index { values.buckets[index] += 1 }
      guard let span else { return }
      if values.exemplars.isEmpty { values.exemplars = Array(repeating: nil, count: bounds.count + 1) }
      values.exemplars[index ?? bounds.count] = Exemplar(context: span.context, value: value, time: Double(WallClock.now()) / 1000)
    }
  }

  var current: Values { values.withLock { $0 } }
}
