/// The section `push`: how events are pushed to endpoints.
public struct PushSettings: Sendable, Hashable {
  /// True if endpoints may have `http` URLs.
  public var allowsHTTP = false
  /// Ranges of addresses to which events may be pushed although they are not public.
  public var allowedAddresses: [AddressRange] = []
  /// The timeout of a request to an endpoint.
  public var timeout: Duration = .seconds(15)
  /// The wait after an event's first failure; it doubles with each further one.
  public var retryBase: Duration = .seconds(5)
  /// The longest wait between two attempts of an event.
  public var retryCap: Duration = .seconds(3600)
  /// The longest `Retry-After` of an endpoint that is obeyed.
  public var retryAfterCap: Duration = .seconds(86_400)
  /// How long an event is retried while its endpoint accepts other events.
  public var retryFor: Duration = .seconds(3 * 86_400)
  /// The longest pause between requests to an endpoint that accepts nothing.
  public var pauseCap: Duration = .seconds(60)
  /// The time of failure after which an endpoint is disabled.
  public var disableAfter: Duration = .seconds(3 * 86_400)
  /// The greatest number of events that are in memory for one endpoint.
  public var window = 512
  /// The greatest size of the events that are in memory for one endpoint, bytes.
  public var windowBytes = 4 << 20
  /// The number of threads that send requests to endpoints.
  public var threads = min(4, AvailableCores.count)
  /// How long an instance without a heartbeat keeps its endpoints.
  public var pusherTimeout: Duration = .seconds(10)
  /// The greatest number of subscriptions that are pushed.
  public var endpoints = 10_000

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    allowsHTTP = try node["allowsHTTP"]?.bool() ?? allowsHTTP
    for (index, text) in (try node["allowedAddresses"]?.texts() ?? []).enumerated() {
      do throws(AddressError) { allowedAddresses.append(try AddressRange(validating: text)) } catch {
        throw ConfigurationError("\(node.path).allowedAddresses[\(index)]", "\(error)")
      }
    }
    try node.time("timeout", .milliseconds(100)...(.seconds(60)), &timeout)
    try node.time("retryBase", .milliseconds(10)...(.seconds(3600)), &retryBase)
    try node.time("retryCap", .milliseconds(10)...(.seconds(86_400)), &retryCap)
    try node.time("retryAfterCap", .zero...(.seconds(14 * 86_400)), &retryAfterCap)
    try node.time("retryFor", .milliseconds(100)...(.seconds(14 * 86_400)), &retryFor)
    try node.time("pauseCap", .milliseconds(10)...(.seconds(3600)), &pauseCap)
    try node.time("disableAfter", .milliseconds(100)...(.seconds(14 * 86_400)), &disableAfter)
    try node.time("pusherTimeout", .seconds(2)...(.seconds(300)), &pusherTimeout)
    try node.count("window", 1...100_000, &window)
    try node.count("windowBytes", 1...(1 << 30), &windowBytes)
    try node.count("threads", 1...64, &threads)
    try node.count("endpoints", 0...100_000, &endpoints)
    unknown += node.unknownKeys([
      "allowsHTTP", "allowedAddresses", "timeout", "retryBase", "retryCap", "retryFor", "pauseCap", "disableAfter", "window", "windowBytes",
      "threads", "pusherTimeout", "endpoints", "retryAfterCap",
    ])
  }
}
