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

  init(_ node: ConfigurationNode, _ unknown: inout [String]) throws(ConfigurationError) {
    self.init()
    func time(_ key: String, _ value: inout Duration, least: Duration) throws(ConfigurationError) {
      guard let child = node[key] else { return }
      value = try child.duration()
      guard value >= least else { throw ConfigurationError(child.path, "must be at least \(least)") }
    }
    func count(_ key: String, _ value: inout Int, _ range: ClosedRange<Int64>) throws(ConfigurationError) {
      guard let child = node[key] else { return }
      let number = try child.integer()
      guard range.contains(number) else {
        throw ConfigurationError(child.path, "must be \(range.lowerBound) to \(range.upperBound)")
      }
      value = Int(number)
    }
    try count("parallelPages", &parallelPages, 1...256)
    try count("intakeBacklog", &intakeBacklog, 1...100_000_000)
    try time("lease", &lease, least: .seconds(1))
    try time("holdBack", &holdBack, least: .zero)
    try time("heartbeat", &heartbeat, least: .milliseconds(100))
    try time("outageAfter", &outageAfter, least: .milliseconds(300))
    try time("retryPatience", &retryPatience, least: .seconds(1))
    try time("retryMargin", &retryMargin, least: .zero)
    try time("silenceAfter", &silenceAfter, least: .seconds(1))
    try count("silenceExpected", &silenceExpected, 1...1_000_000)
    if let table = try node["rates"]?.mapping() {
      for name in table.keys {
        let child = try table.required(name)
        let rate = try child.number()
        guard rate >= 0.001, rate <= 1000 else { throw ConfigurationError(child.path, "must be 0.001 to 1000") }
        rates[name] = rate
      }
    }
    guard outageAfter >= heartbeat * 3 else {
      throw ConfigurationError("\(node.path).outageAfter", "must be at least three heartbeats, or each late one is an outage")
    }
    unknown += node.unknownKeys([
      "parallelPages", "lease", "holdBack", "heartbeat", "outageAfter", "retryPatience", "retryMargin", "silenceAfter",
      "silenceExpected", "rates", "intakeBacklog",
    ])
  }
}
