/// The section `adServices`: how Apple is asked about attribution tokens.
public struct AdServicesSettings: Sendable, Hashable {
  /// The time from a token's creation to the first call.
  public var firstCallDelay: Duration = .seconds(5)
  /// The wait between calls after a 404.
  public var notFoundInterval: Duration = .seconds(5)
  /// The number of further calls after a first 404.
  public var notFoundRetries = 3
  /// The upper bounds of the waits between retries. The last one applies to all further retries.
  public var slowLane: [Duration] = [.seconds(60), .seconds(300), .seconds(1800), .seconds(7200), .seconds(21_600)]
  /// True if a token that is still not found after `notFoundRetries` is retried with the waits of `slowLane`.
  public var slowLaneAfterNotFound = false
  /// True if a token is retried with the waits of `slowLane` after a failure; otherwise it is retried as after a 404.
  public var slowLaneAfterFailure = true
  /// The timeout of connecting to Apple.
  public var connectTimeout: Duration = .seconds(3)
  /// The timeout of a whole call. By default it is 10 s, or four fifths of a message's lease if that is shorter.
  public var timeout: Duration?
  /// The greatest number of connections of one process to Apple.
  public var connections = 64
  /// The greatest number of concurrent calls of one process.
  public var concurrency = 256
  /// The greatest number of concurrent calls of all instances together.
  public var sharedConcurrency = 1024
  /// The maximum rate of calls of all instances together, calls per second.
  public var rate: Double = 2000
  /// The greatest number of calls that all instances together may make at once after a time without calls.
  public var rateBurst = 1000
  /// The longest `Retry-After` of Apple's that is obeyed. A longer one is most likely a mistake, and tokens would expire during it.
  public var maxRetryAfter: Duration = .seconds(1800)
  /// How long the outcome of a token is stored.
  public var resultLifetime: Duration = .seconds(48 * 3600)
  /// How long an install's attribution is kept, so that an attribution of a later token can supersede it.
  public var installLifetime: Duration = .seconds(90 * 86_400)
  /// True if tokens of apps that are not configured are accepted. They are always accepted if no app is configured.
  public var acceptsUnknownApps = false
  /// The circuit breaker for calls to Apple.
  public var breaker = Breaker()
  /// The names that events have beside Apple Ads' ids.
  public var names = Names()

  /// The settings of the circuit breaker for calls to Apple (`CircuitBreaker` in UpstreamPacing).
  public struct Breaker: Sendable, Hashable {
    public var window: Duration = .seconds(20)
    public var minCalls = 10
    public var failureShare = 0.5
    public var firstPause: Duration = .seconds(2)
    public var maxPause: Duration = .seconds(60)
    public var jitter = 0.25
    public var probes = 1

    public init() {}
  }

  /// The names of organizations, campaigns and so on, by Apple Ads' ids.
  public struct Names: Sendable, Hashable {
    public var organizations: [Int64: String] = [:]
    public var campaigns: [Int64: String] = [:]
    public var adGroups: [Int64: String] = [:]
    public var keywords: [Int64: String] = [:]
    public var ads: [Int64: String] = [:]

    public init() {}
  }

  public init() {}
}

extension AdServicesSettings {
  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    unknown += node.unknownKeys([
      "firstCallDelay", "notFoundInterval", "notFoundRetries", "slowLane", "slowLaneAfterNotFound", "slowLaneAfterFailure",
      "connectTimeout", "timeout", "connections", "concurrency", "sharedConcurrency", "rate", "rateBurst", "longestRetryAfter",
      "resultLifetime",
      "installLifetime", "acceptsUnknownApps", "breaker", "names",
    ])
    try node.time("firstCallDelay", .zero ... .seconds(60), &firstCallDelay)
    try node.time("notFoundInterval", .seconds(1) ... .seconds(60), &notFoundInterval)
    try node.count("notFoundRetries", 0...10, &notFoundRetries)
    if let lane = node["slowLane"] {
      let steps = try lane.list()
      guard (1...20).contains(steps.count) else { throw ConfigurationError(lane.path, "must have 1 to 20 times") }
      slowLane = try steps.map { step throws(ConfigurationError) in try step.time(.seconds(1) ... .seconds(86_400)) }
    }
    slowLaneAfterNotFound = try node["slowLaneAfterNotFound"]?.bool() ?? slowLaneAfterNotFound
    slowLaneAfterFailure = try node["slowLaneAfterFailure"]?.bool() ?? slowLaneAfterFailure
    try node.time("connectTimeout", .milliseconds(100) ... .seconds(30), &connectTimeout)
    // At least 2 s, because Apple may take up to a second to answer 404.
    if node["timeout"] != nil {
      var given = Duration.zero
      try node.time("timeout", .seconds(2) ... .seconds(60), &given)
      timeout = given
    }
    try node.count("connections", 1...1024, &connections)
    try node.count("concurrency", 1...10_000, &concurrency)
    try node.count("sharedConcurrency", 1...1_000_000, &sharedConcurrency)
    try node.number("rate", 0.01...100_000, &rate)
    try node.count("rateBurst", 1...1_000_000, &rateBurst)
    try node.time("longestRetryAfter", .seconds(1) ... .seconds(86_400), &maxRetryAfter)
    // Longer than the 24 hours for which a token is valid, so that a token without a stored outcome has certainly expired.
    try node.time("resultLifetime", .seconds(25 * 3600) ... .seconds(30 * 86_400), &resultLifetime)
    try node.time("installLifetime", .seconds(86_400) ... .seconds(400 * 86_400), &installLifetime)
    acceptsUnknownApps = try node["acceptsUnknownApps"]?.bool() ?? acceptsUnknownApps
    if let node = try node["breaker"]?.mapping() {
      unknown += node.unknownKeys(["window", "leastCalls", "failureShare", "firstPause", "longestPause", "jitter", "probes"])
      try node.time("window", .seconds(1) ... .seconds(600), &breaker.window)
      try node.count("leastCalls", 1...10_000, &breaker.minCalls)
      try node.number("failureShare", 0.01...1, &breaker.failureShare)
      try node.time("firstPause", .milliseconds(100) ... .seconds(600), &breaker.firstPause)
      try node.time("longestPause", .milliseconds(100) ... .seconds(3600), &breaker.maxPause)
      try node.number("jitter", 0...1, &breaker.jitter)
      try node.count("probes", 1...100, &breaker.probes)
    }
    if let node = try node["names"]?.mapping() {
      unknown += node.unknownKeys(["organizations", "campaigns", "adGroups", "keywords", "ads"])
      names.organizations = try node.names("organizations")
      names.campaigns = try node.names("campaigns")
      names.adGroups = try node.names("adGroups")
      names.keywords = try node.names("keywords")
      names.ads = try node.names("ads")
    }
  }
}

extension DeploymentConfiguration {
  /// True if tokens of the app are accepted. Tokens of all apps are accepted if no app is configured.
  public func acceptsTokens(of bundleId: String) -> Bool {
    apps.isEmpty || adServices.acceptsUnknownApps || app(bundleId) != nil
  }
}

extension ConfigurationNode {
  /// Reads a mapping from ids of 64 bits to names.
  fileprivate func names(_ key: String) throws(ConfigurationError) -> [Int64: String] {
    guard let table = try self[key]?.mapping() else { return [:] }
    var names: [Int64: String] = [:]
    for key in table.keys {
      guard let id = Int64(key), String(id) == key else {
        throw ConfigurationError(table.path, "must have ids as keys; '\(key)' is not one")
      }
      names[id] = try table.required(key).text()
    }
    // A quoted and an unquoted key may have the same text, and keys may be lists or mappings.
    guard names.count == table.size else { throw ConfigurationError(table.path, "must have ids in quotes as keys, each once") }
    return names
  }
}
