/// A text format in which `/metrics` exposes the metrics.
enum ExpositionFormat: Sendable {
  /// Prometheus' text format 0.0.4.
  case prometheus
  /// OpenMetrics 1.0, the only format with exemplars.
  case openMetrics

  var contentType: String {
    switch self {
    case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
    case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
    }
  }

  /// The format that an `Accept` header prefers; Prometheus' text format by default.
  init(accept: String?) {
    var best = (format: ExpositionFormat.prometheus, quality: 0.0)
    for range in (accept ?? "").lowercased().split(separator: ",") {
      let parts = range.split(separator: ";").map { $0.trimmingSpaces() }
      let parameters = parts.dropFirst().map { $0.split(separator: "=", maxSplits: 1).map { $0.trimmingSpaces() } }
      func parameter(_ name: String) -> String? { parameters.first { $0.count == 2 && $0[0] == name }?[1] }
      let quality = parameter("q").flatMap { Double($0) } ?? 1
      switch parts.first {
      case "application/openmetrics-text":
        guard ["1.0.0", "0.0.1", nil].contains(parameter("version")), quality > best.quality else { continue }
        best = (.openMetrics, quality)
      case "text/plain", "text/*", "*/*":
        if quality > best.quality { best = (.prometheus, quality) }
      default: continue
      }
    }
    self = best.format
  }
}
