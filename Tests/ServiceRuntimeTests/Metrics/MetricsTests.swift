import Testing
import Traces

@testable import ServiceRuntime

@Suite struct MetricsTests {
  private func metrics() -> MetricsRegistry {
    let metrics = MetricsRegistry()
    metrics.counter("c_total", help: "C \"x\".", labels: ["a"])
    metrics.gauge("g", help: "G.")
    metrics.histogram("h", help: "H.", bounds: [0.5, 2])
    metrics.add("c_total", 2, ["x\"\\\n"])
    metrics.observe("h", 0.5)
    metrics.observe("h", 1.5)
    metrics.observe("h", 9)
    metrics.collect { metrics.set("g", 0.5) }
    return metrics
  }

  @Test func `Counters, gauges and histograms are written in the format of Prometheus`() async {
    let text = await metrics().text()
    #expect(text.contains("# HELP c_total C \"x\".\n# TYPE c_total counter\nc_total{a=\"x\\\"\\\\\\n\"} 2\n"))
    #expect(text.contains("# TYPE g gauge\ng 0.5\n"))
    #expect(
      text.contains("h_bucket{le=\"0.5\"} 1\nh_bucket{le=\"2.0\"} 2\nh_bucket{le=\"+Inf\"} 3\nh_sum 11\nh_count 3\n"))
    #expect(!text.contains("# EOF"))
  }

  @Test func `OpenMetrics has counter names without suffix, an end, and the newest traced observation of each bucket`() async throws {
    let metrics = metrics()
    let tracer = Tracer(sampler: Sampler(ratio: 1), buffer: SpanBuffer(capacity: 1, maxBatchSize: 1))
    let parent = try #require(SpanContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    for value in [7, 8.5] { metrics.series("h")?.observe(value, of: tracer.span("w", .internal, parent, childOf: nil)) }
    let text = await metrics.exposition(.openMetrics)
    #expect(text.contains("# HELP c C \\\"x\\\".\n# TYPE c counter\nc_total{"))
    #expect(text.contains("h_bucket{le=\"2.0\"} 2\n"))
    let exemplar = try #require(text.split(separator: "\n").first { $0.hasPrefix("h_bucket{le=\"+Inf\"} 5 # ") })
    #expect(exemplar.contains("# {trace_id=\"0af7651916cd43dd8448eb211c80319c\",span_id=\"b7ad6b7169203331\"} 8.5 1"))
    #expect(text.hasSuffix("# EOF\n"))
    #expect(await !metrics.text().contains("trace_id"))
  }

  @Test(
    arguments: [
      (nil, false), ("", false), ("*/*", false), ("text/plain", false), ("application/openmetrics-text", true),
      // Prometheus 2.42 and 3.
      (
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        true
      ),
      ("text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5", false),
      ("application/openmetrics-text;version=2.0.0", false), ("text/plain;q=0.3, application/openmetrics-text; version=1.0.0; q=0.4", true),
      ("application/json", false), ("text/plain, application/openmetrics-text;q=0", false),
    ] as [(String?, Bool)])
  func `The scraper's Accept header decides the format`(_ accept: String?, _ isOpenMetrics: Bool) {
    #expect((ExpositionFormat(accept: accept) == .openMetrics) == isOpenMetrics)
  }
}
