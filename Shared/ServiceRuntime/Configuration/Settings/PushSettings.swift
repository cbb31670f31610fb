/// How events are pushed to endpoints (YAML `push`).
public struct PushSettings: Sendable, Hashable {
  /// Whether endpoints may be asked in clear text.
  public var allowsHTTP = false
  /// Ranges of addresses that are allowed although they are not public.
  public var allowedAddresses: [AddressRange] = []
  /// By when an endpoint has to have answered.
  public var timeout: Duration = .seconds(15)
  /// The wait after an event was refused for the first time; it doubles from then on.
  public var retryBase: Duration = .seconds(5)
  /// The longest wait of an event that was refused.
  public var retryCap: Duration = .seconds(3600)
  /// The longest that an endpoint may ask for by `Retry-After`.
  public var retryAfterCap: Duration = .seconds(86_400)
  /// How long one event is tried while others are taken.
  public var retryFor: Duration = .seconds(3 * 86_400)
  /// How long an endpoint that takes nothing is left alone at the most.
  public var pauseCap: Duration = .seconds(60)
  /// How long an endpoint may fail before it is disabled.
  public var disableAfter: Duration = .seconds(3 * 86_400)
  /// Events of one endpoint that are kept in memory at the most.
  public var window = 512
  /// Bytes of events of one endpoint that are kept in memory at the most.
  public var windowBytes = 4 << 20
  /// Threads that post.
  public var threads = min(4, AvailableCores.count)
  /// How long an instance that gives no sign of life keeps its endpoints.
  public var pusherTimeout: Duration = .seconds(10)
  /// Subscriptions that are pushed, at the most.
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
