#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The section `traces`: where spans are exported to, and which traces are recorded. OpenTelemetry's own environment variables take
/// precedence over the file.
public struct TraceSettings: Sendable, Hashable {
  /// The collector's base URL, to which `/v1/traces` is added. Without it, nothing is recorded.
  public var endpoint: String?
  /// A file whose first line is a header, `Name: value`, that is sent with every export.
  public var headerFile: String?
  /// The fraction of the traces that begin in this deployment that is recorded, 0 to 1.
  public var sampling = 0.01
  /// True if a trace that a caller began is recorded when the caller records it. Otherwise `sampling` decides for such traces too.
  public var followsCallers = true
  /// The number of requests per second to an instance's public port that are recorded because their sender asks for it.
  public var publicParents = 10
  /// The greatest number of spans that wait for export. Further spans are dropped and counted.
  public var queue = 4096
  /// The greatest number of spans of one export.
  public var batch = 512
  /// The interval at which spans are exported even if there are fewer than a batch.
  public var interval: Duration = .seconds(5)
  /// The timeout of an export.
  public var timeout: Duration = .seconds(10)

  // The following settings come only from environment variables.
  /// The URL for traces, which takes precedence over ``endpoint``.
  var tracesEndpoint: String?
  /// Headers that are sent with every export.
  var headers: [(name: String, value: String)] { headerTexts.map { ($0.name, $0.value) } }
  private var headerTexts: [Header] = []
  /// The file with the trust anchors for the collector; nil for `ATTRIBUTION_CA_FILE`.
  var caFile: String?
  /// The value of `service.name`; nil for the service's own name.
  var serviceName: String?
  var resourceAttributes: [Header] = []

  /// A name and a value.
  struct Header: Sendable, Hashable {
    let name: String
    let value: String
  }

  public init() {}

  /// The URL to which spans are posted; nil if nothing is recorded.
  var url: String? {
    if let tracesEndpoint { return tracesEndpoint }
    guard let endpoint else { return nil }
    return (endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint) + "/v1/traces"
  }

  init(_ node: ConfigurationNode, _ resolved: (String) -> String, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    if let node = node["endpoint"] {
      endpoint = try node.text()
      guard Self.isURL(try node.text()) else { throw ConfigurationError(node.path, "must be a URL that begins with http:// or https://") }
    }
    headerFile = try node["headerFile"].map { node throws(ConfigurationError) in resolved(try node.text()) }
    try node.number("sampling", 0...1, &sampling)
    followsCallers = try node["followsCallers"]?.bool() ?? followsCallers
    try node.count("publicParents", 0...1_000_000, &publicParents)
    try node.count("queue", 1...1_000_000, &queue)
    try node.count("batch", 1...10_000, &batch)
    try node.time("interval", .milliseconds(10)...(.seconds(300)), &interval)
    try node.time("timeout", .milliseconds(100)...(.seconds(60)), &timeout)
    unknown += node.unknownKeys([
      "endpoint", "headerFile", "sampling", "followsCallers", "publicParents", "queue", "batch", "interval", "timeout",
    ])
  }

  private static func isURL(_ text: String) -> Bool {
    let lower = text.lowercased()
    return (lower.hasPrefix("http://") || lower.hasPrefix("https://")) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  // MARK: OpenTelemetry's environment variables

  /// Applies OpenTelemetry's environment variables. Empty ones are ignored.
  ///
  /// - Parameter value: returns the value of a variable.
  mutating func apply(_ value: (String) -> String?) throws(ConfigurationError) {
    func text(_ name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }
    func url(_ name: String) throws(ConfigurationError) -> String? {
      guard let text = text(name) else { return nil }
      guard Self.isURL(text) else { throw ConfigurationError(name, "must be a URL that begins with http:// or https://") }
      return text
    }
    func count(_ name: String, _ bounds: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
      guard let text = text(name) else { return nil }
      guard let count = Int(text), bounds.contains(count) else {
        throw ConfigurationError(name, "must be \(bounds.lowerBound) to \(bounds.upperBound)")
      }
      return count
    }
    if let url = try url("OTEL_EXPORTER_OTLP_ENDPOINT") { endpoint = url }
    tracesEndpoint = try url("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    caFile = text("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE") ?? text("OTEL_EXPORTER_OTLP_CERTIFICATE")
    headerTexts = try pairs("OTEL_EXPORTER_OTLP_HEADERS", value) + pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS", value)
    serviceName = text("OTEL_SERVICE_NAME")
    resourceAttributes = try pairs("OTEL_RESOURCE_ATTRIBUTES", value)
    queue = try count("OTEL_BSP_MAX_QUEUE_SIZE", 1...1_000_000) ?? queue
    batch = try count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1...10_000) ?? batch
    interval = try count("OTEL_BSP_SCHEDULE_DELAY", 10...300_000).map { .milliseconds($0) } ?? interval
    let timeouts = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]
    if let name = timeouts.first(where: { text($0) != nil }), let milliseconds = try count(name, 100...60_000) {
      timeout = .milliseconds(milliseconds)
    }
    try applySampler(text("OTEL_TRACES_SAMPLER"), text("OTEL_TRACES_SAMPLER_ARG"))
    if text("OTEL_SDK_DISABLED")?.lowercased() == "true" || text("OTEL_TRACES_EXPORTER") == "none" {
      (endpoint, tracesEndpoint) = (nil, nil)
    }
  }

  /// Applies `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`.
  private mutating func applySampler(_ name: String?, _ argument: String?) throws(ConfigurationError) {
    if let argument {
      guard let ratio = Double(argument), (0...1).contains(ratio) else {
        throw ConfigurationError("OTEL_TRACES_SAMPLER_ARG", "must be 0 to 1")
      }
      sampling = ratio
    }
    guard let name else { return }
    followsCallers = name.hasPrefix("parentbased_")
    switch followsCallers ? String(name.dropFirst("parentbased_".count)) : name {
    case "always_on": sampling = 1
    case "always_off": sampling = 0
    case "traceidratio": if argument == nil { sampling = 1 }
    default:
      throw ConfigurationError(
        "OTEL_TRACES_SAMPLER", "must be always_on, always_off or traceidratio, each alone or with parentbased_ in front")
    }
  }

  /// Parses a variable in the format `name=value,name=value`, with percent-encoded values.
  private func pairs(_ name: String, _ value: (String) -> String?) throws(ConfigurationError) -> [Header] {
    var pairs: [Header] = []
    for part in (value(name) ?? "").split(separator: ",") {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let key = sides[0].trimmingSpaces()
      guard sides.count == 2, !key.isEmpty, let decoded = String(sides[1].trimmingSpaces()).removingPercentEncoding,
        decoded.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
      else { throw ConfigurationError(name, "must be pairs name=value with commas between them") }
      pairs.append(Header(name: key, value: decoded))
    }
    return pairs
  }
}
