import AttributionQueue
import Testing

@testable import ServiceRuntime

@Suite struct QueueMetricsTests {
  @Test func `Accepted messages are counted by queue, and every queue has a series from the start`() async {
    let metrics = MetricsRegistry()
    let observe = QueueMetrics.acceptObserver(metrics)
    for queue in [QueueName.intake, .intake, .gaps] { observe(queue) }
    let text = await metrics.text()
    #expect(text.contains("# TYPE attribution_queue_enqueued_total counter\n"))
    for queue in QueueName.allCases {
      let count = queue == .intake ? 2 : queue == .gaps ? 1 : 0
      #expect(text.contains("attribution_queue_enqueued_total{queue=\"\(queue.rawValue)\"} \(count)\n"))
    }
  }
}
