import HTTPClient
import Traces

#if canImport(Glibc)
  import Glibc
#endif

/// Environment variables that other systems define.
enum ProcessVariables {
  static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// The tracer of a process and its exporter.
struct ProcessTracing {
  let tracer: Tracer
  fileprivate let buffer: SpanBuffer?

  /// Nil if nothing is recorded.
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
  func tracing() -> ProcessTracing {
    guard traces.url != nil else { return ProcessTracing(tracer: .off, buffer: nil) }
    let buffer = SpanBuffer(capacity: traces.queue, batch: traces.batch)
    let tracer = Tracer(sampler: Sampler(followsParent: traces.followsCallers, ratio: traces.sampling), buffer: buffer)
    return ProcessTracing(tracer: tracer, buffer: buffer)
  }
}
