import Cryptography
import HTTPClient
import Logging
import Synchronization
import Traces

/// Exports spans to a collector, in batches and in the background (OTLP/HTTP with JSON).
///
/// Spans wait in a `SpanBuffer` of fixed size, so a slow or unavailable collector does not slow requests. Spans that do not fit into the
/// buffer, or that the collector does not accept within a few attempts, are dropped and counted.
final class TraceExporter: Sendable {
  /// The reason why spans were dropped.
  enum Cause: String, CaseIterable {
    case queueFull = "queue_full"
    case refused, unreachable
  }

  /// The number of attempts per batch.
  private static let attempts = 5
  private static let firstPause: Duration = .seconds(1)
  private static let maxPause: Duration = .seconds(30)
  /// The time limit for exporting the remaining spans when the process ends.
  private static let finalTimeout: Duration = .seconds(3)

  private static let exportedName = "attribution_trace_spans_exported_total"
  private static let droppedName = "attribution_trace_spans_dropped_total"
  private static let waitingName = "attribution_trace_spans_waiting"

  private let buffer: SpanBuffer
  private let encoder: OTLPTraces
  private let url: String
  private let headers: [(String, String)]
  private let interval: Duration
  private let timeout: Duration
  private let http: HTTPClient
  private let metrics: MetricsRegistry
  private let logger: Logger
  /// The batch that is being exported.
  private let currentBatch = Mutex<[FinishedSpan]>([])
  /// Finishes when ``stop()`` is called.
  private let stopStream: AsyncStream<Void>
  private let stopContinuation: AsyncStream<Void>.Continuation

  init(
    buffer: SpanBuffer, service: String, settings: TraceSettings, url: String, http: HTTPClient, metrics: MetricsRegistry, logger: Logger
  ) throws(ConfigurationError) {
    self.buffer = buffer
    self.url = url
    self.http = http
    self.metrics = metrics
    self.logger = logger
    encoder = OTLPTraces(service: service, settings: settings, instance: RandomBytes.uuid())
    headers = try [("Content-Type", "application/json")] + Self.headers(settings)
    interval = settings.interval
    timeout = settings.timeout
    (stopStream, stopContinuation) = AsyncStream<Void>.makeStream()
    metrics.counter(Self.exportedName, help: "Spans that the collector accepted.")
    metrics.counter(
      Self.droppedName, help: "Spans that were dropped: the queue was full, or the collector refused them or was unreachable.",
      labels: ["cause"])
    metrics.gauge(Self.waitingName, help: "Spans that are waiting for export.")
    for cause in Cause.allCases { metrics.add(Self.droppedName, 0, [cause.rawValue]) }
    metrics.collect {
      metrics.set(Self.droppedName, Double(buffer.dropped), [Cause.queueFull.rawValue])
      metrics.set(Self.waitingName, Double(buffer.count))
    }
  }

  private static func headers(_ settings: TraceSettings) throws(ConfigurationError) -> [(String, String)] {
    var headers = settings.headers.map { ($0.name, $0.value) }
    guard let path = settings.headerFile else { return headers }
    let line: String
    do throws(KeyFileError) { line = try PrivateFile.firstLine(path) } catch {
      throw ConfigurationError("traces.headerFile", error.text("file"))
    }
    let sides = line.split(separator: ":", maxSplits: 1)
    guard sides.count == 2 else {
      throw ConfigurationError("traces.headerFile", "\(path) must contain a header, Name: value, in its first line")
    }
    headers.append((sides[0].trimmingSpaces(), sides[1].trimmingSpaces()))
    return headers
  }

  /// Makes ``run()`` export the remaining spans and return.
  func stop() { stopContinuation.finish() }

  /// Exports spans until ``stop()`` is called.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.exportUntilCancelled() }
      group.addTask {
        while !Task.isCancelled {
          try? await Task.sleep(for: self.interval)
          self.buffer.wake()
        }
      }
      for await _ in stopStream {}
      group.cancelAll()
    }
    await exportRemainingSpans()
    http.shutdown()
  }

  private func exportUntilCancelled() async {
    for await _ in buffer.signals {
      while !Task.isCancelled {
        let spans = buffer.take()
        guard !spans.isEmpty else { break }
        currentBatch.withLock { $0 = spans }
        await export(spans)
        // A batch whose export was interrupted is exported again at the end.
        guard !Task.isCancelled else { return }
        currentBatch.withLock { $0 = [] }
      }
    }
  }

  private func exportRemainingSpans() async {
    let end = ContinuousClock.now + Self.finalTimeout
    var spans = currentBatch.withLock { $0 }
    if spans.isEmpty { spans = buffer.take() }
    while !spans.isEmpty, .now < end {
      let remaining = ContinuousClock.now.duration(to: end)
      if case .again = await post(spans, timeout: min(timeout, remaining)) { return drop(spans.count + buffer.count, .unreachable) }
      spans = buffer.take()
    }
    if !spans.isEmpty { drop(spans.count + buffer.count, .unreachable) }
  }

  /// What to do after a request: nothing more, or the same request again after the collector's `Retry-After`, if it gave one.
  private enum Outcome { case done, again(after: Duration?) }

  /// Posts a batch, with several attempts.
  private func export(_ spans: [FinishedSpan]) async {
    var pause = Self.firstPause
    for attempt in 1...Self.attempts {
      guard case .again(let after) = await post(spans, timeout: timeout) else { return }
      guard attempt < Self.attempts else { break }
      // With jitter, so that not all instances retry at once.
      do { try await Task.sleep(for: min(after ?? pause * Double.random(in: 0.5...1), Self.maxPause)) } catch { return }
      pause = min(pause * 2, Self.maxPause)
    }
    drop(spans.count, .unreachable)
  }

  private func post(_ spans: [FinishedSpan], timeout: Duration) async -> Outcome {
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: url, headers: headers, body: encoder.body(spans), timeout: timeout, maxResponseBytes: 65_536))
    } catch {
      logger.debug("spans were not exported", metadata: ["reason": "\(error)"])
      return .again(after: nil)
    }
    switch response.status {
    case 200..<300:
      let rejected = min(spans.count, OTLPTraces.rejected(in: response.body))
      metrics.add(Self.exportedName, Double(spans.count - rejected))
      if rejected > 0 { drop(rejected, .refused) }
      return .done
    case 429, 502, 503, 504: return .again(after: response.retryAfter(now: WallClock.now() / 1000))
    default:
      logger.warning("the collector refused spans", metadata: ["status": "\(response.status)"])
      drop(spans.count, .refused)
      return .done
    }
  }

  private func drop(_ count: Int, _ cause: Cause) { metrics.add(Self.droppedName, Double(count), [cause.rawValue]) }
}
