import HTTPClient
import Traces

#if canImport(Glibc)
  import Glibc
#endif

/// Reads environment variables of any name, such as OpenTelemetry's. ``ServiceVariables`` reads those of this project.
enum ProcessVariables {
  static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// The tracer of a process and its exporter.
struct ProcessTracing {
  let tracer: Tracer
  fileprivate let buffer: SpanBuffer?

  /// The exporter of the recorded spans; nil if nothing is recorded.
  func exporter(_ environment: ServiceEnvironment) throws(ConfigurationError) -> TraceExporter? {
    let settings = environment.configuration.traces
    guard let buffer, let url = settings.url else { return nil }
    var client = HTTPClientConfiguration()
    client.caFile = settings.caFile ?? environment.variables.caFile
    client.maxConnectionsPerHost = 1
    return try TraceExporter(
      buffer: buffer, service: environment.service.rawValue, settings: settings, url: url, http: HTTPClient(configuration: client),
      metrics: environment.metrics, logger: environment.logger)
  }
}

extension DeploymentConfiguration {
  /// The tracer by the section `traces`, which records nothing if no collector is configured.
  func tracing() -> ProcessTracing {
    guard traces.url != nil else { return ProcessTracing(tracer: .off, buffer: nil) }
    let buffer = SpanBuffer(capacity: traces.queue, maxBatchSize: traces.batch)
    let tracer = Tracer(sampler: Sampler(followsParent: traces.followsCallers, ratio: traces.sampling), buffer: buffer)
    return ProcessTracing(tracer: tracer, buffer: buffer)
  }
}
