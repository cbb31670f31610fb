/// How missed notifications are noticed and brought back (`recovery` in the file).
public struct RecoverySettings: Sendable, Hashable {
  /// Pages of one recovery that are asked for at a time.
  public var parallelPages = 16
  /// How long the leader of an app that says nothing stays its leader.
  public var lease: Duration = .seconds(15)
  /// How long a recovery from an outage holds back what is not urgent, at the most.
  public var holdBack: Duration = .seconds(300)
  /// Deliveries that may wait for verification; while there are more, recoveries put nothing beside them.
  public var intakeBacklog = 20_000
  /// Notifications that all recoveries together may hold back; never more than a quarter of the queue's bound.
  public var heldBacklog = 200_000
  /// Recoveries of one app that callers may have running and waiting.
  public var mostRunning = 100
  /// How often ingest says that it is alive.
  public var heartbeat: Duration = .seconds(5)
  /// An outage of ingest is at least so long.
  public var outageAfter: Duration = .seconds(60)
  /// How long Apple's own retries are waited for.
  public var retryPatience: Duration = .seconds(3600)
  /// How long after the time of a retry it is looked at what it brought.
  public var retryMargin: Duration = .seconds(600)
  /// A silence is at least so long.
  public var silenceAfter: Duration = .seconds(900)
  /// A silence is an outage when so many notifications would usually have come in it.
  public var silenceExpected = 30

  /// Endpoint of the App Store Server API → requests a second and app in production, where Apple's published rate is not meant: less
  /// when others use the same app's budget.
  public var rates: [String: Double] = [:]

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    try node.count("parallelPages", 1...256, &parallelPages)
    try node.count("intakeBacklog", 1...100_000_000, &intakeBacklog)
    try node.count("heldBacklog", 1...100_000_000, &heldBacklog)
    try node.count("mostRunning", 1...10_000, &mostRunning)
    try node.time("lease", .seconds(1)..., &lease)
    try node.time("holdBack", .zero..., &holdBack)
    try node.time("heartbeat", .milliseconds(100)..., &heartbeat)
    try node.time("outageAfter", .milliseconds(300)..., &outageAfter)
    try node.time("retryPatience", .seconds(1)..., &retryPatience)
    try node.time("retryMargin", .zero..., &retryMargin)
    try node.time("silenceAfter", .seconds(1)..., &silenceAfter)
    try node.count("silenceExpected", 1...1_000_000, &silenceExpected)
    if let table = try node["rates"]?.mapping() {
      for name in table.keys {
        rates[name] = try table.required(name).number(0.001...1000)
      }
    }
    guard outageAfter >= heartbeat * 3 else {
      throw ConfigurationError("\(node.path).outageAfter", "must be at least three heartbeats, or each late one is an outage")
    }
    unknown += node.unknownKeys([
      "parallelPages", "lease", "holdBack", "heartbeat", "outageAfter", "retryPatience", "retryMargin", "silenceAfter",
      "silenceExpected", "rates", "intakeBacklog", "heldBacklog", "mostRunning",
    ])
  }
}
