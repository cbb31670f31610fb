import Cryptography

/// Writes metrics in an ``ExpositionFormat``: ``begin(_:kind:help:)`` for each metric, then ``write(_:labels:bounds:)`` for each series.
struct MetricsWriter {
  private let format: ExpositionFormat
  private var text = ""
  private var kind = ""
  private var name = ""

  init(_ format: ExpositionFormat) { self.format = format }

  /// The whole text.
  var finished: String { format == .openMetrics ? text + "# EOF\n" : text }

  /// Begins a metric. In OpenMetrics, the name of a counter is written without the `_total` that its samples have.
  mutating func begin(_ name: String, kind: String, help: String) {
    self.kind = kind
    self.name = name
    let family = format == .openMetrics && kind == "counter" && name.hasSuffix("_total") ? String(name.dropLast("_total".count)) : name
    text += "# HELP \(family) \(Self.escaped(help, quotes: format == .openMetrics))\n# TYPE \(family) \(kind)\n"
  }

  mutating func write(_ values: MetricSeries.Values, labels: [(String, String)], bounds: [Double]) {
    let labels = labels.map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
    guard kind == "histogram" else {
      text += "\(name)\(Self.braces(labels)) \(Self.number(values.value))\n"
      return
    }
    var count: UInt64 = 0
    for (index, observations) in values.buckets.enumerated() {
      count += observations
      bucket(labels, Self.bound(bounds[index]), count, values, index)
    }
    bucket(labels, "+Inf", values.count, values, bounds.count)
    text += "\(name)_sum\(Self.braces(labels)) \(Self.number(values.value))\n\(name)_count\(Self.braces(labels)) \(values.count)\n"
  }

  private mutating func bucket(_ labels: [String], _ bound: String, _ count: UInt64, _ values: MetricSeries.Values, _ index: Int) {
    text += "\(name)_bucket\(Self.braces(labels + ["le=\"\(bound)\""])) \(count)"
    if format == .openMetrics, index < values.exemplars.count, let exemplar = values.exemplars[index] {
      text += " # {trace_id=\"\(exemplar.context.traceID.text)\",span_id=\"\(Hex.encode(exemplar.context.spanID))\"}"
      text += " \(exemplar.value) \(exemplar.time)"
    }
    text += "\n"
  }

  private static func braces(_ labels: [String]) -> String { labels.isEmpty ? "" : "{" + labels.joined(separator: ",") + "}" }

  private static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    return String(value)
  }

  /// Bounds are written as OpenMetrics requires (`1.0` for 1) in both formats, so that a series has the same labels in both.
  private static func bound(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return "\(whole).0" }
    return String(value)
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    let escaped = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    return quotes ? escaped.replacing("\"", with: "\\\"") : escaped
  }
}
