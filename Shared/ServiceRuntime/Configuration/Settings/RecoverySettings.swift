/// The section `recovery`: how missed notifications are detected and fetched.
public struct RecoverySettings: Sendable, Hashable {
  /// The number of pages of one recovery that are requested concurrently.
  public var parallelPages = 16
  /// How long an app's leader keeps its lease without renewing it.
  public var lease: Duration = .seconds(15)
  /// The longest time for which a recovery delays notifications that are not urgent.
  public var holdBack: Duration = .seconds(300)
  /// The number of deliveries waiting for verification above which recoveries add none.
  public var intakeBacklog = 20_000
  /// The greatest number of notifications that all recoveries together delay; never more than a quarter of the queue's limit.
  public var heldBacklog = 200_000
  /// The greatest number of running and waiting recoveries of one app that callers started.
  public var maxRunning = 100
  /// The interval of ingest's heartbeat.
  public var heartbeat: Duration = .seconds(5)
  /// The shortest time without a heartbeat that counts as an outage of ingest.
  public var outageAfter: Duration = .seconds(60)
  /// How long a recovery waits for Apple's own retries.
  public var retryPatience: Duration = .seconds(3600)
  /// How long after one of Apple's retries it is checked whether the notification arrived.
  public var retryMargin: Duration = .seconds(600)
  /// The shortest time without notifications that counts as a silence.
  public var silenceAfter: Duration = .seconds(900)
  /// A silence counts as an outage if at least this number of notifications would usually have arrived during it.
  public var silenceExpected = 30

  /// The rates per app of requests in production, by endpoint of the App Store Server API, requests per second. They replace Apple's
  /// published rates, and are lower if other systems use the same app's budget.
  public var rates: [String: Double] = [:]

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    try node.count("parallelPages", 1...256, &parallelPages)
    try node.count("intakeBacklog", 1...100_000_000, &intakeBacklog)
    try node.count("heldBacklog", 1...100_000_000, &heldBacklog)
    try node.count("mostRunning", 1...10_000, &maxRunning)
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
      throw ConfigurationError(
        "\(node.path).outageAfter", "must be at least three heartbeats; otherwise each late heartbeat would be an outage")
    }
    unknown += node.unknownKeys([
      "parallelPages", "lease", "holdBack", "heartbeat", "outageAfter", "retryPatience", "retryMargin", "silenceAfter",
      "silenceExpected", "rates", "intakeBacklog", "heldBacklog", "mostRunning",
    ])
  }
}
