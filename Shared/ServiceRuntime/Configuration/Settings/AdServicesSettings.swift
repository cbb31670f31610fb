/// What `adServices` says: how Apple is asked about attribution tokens. Each value lies within its limits.
public struct AdServicesSettings: Sendable, Hashable {
  /// From a token's creation to the first call.
  public var firstCallDelay: Duration = .seconds(5)
  /// Between the calls after a 404.
  public var notFoundInterval: Duration = .seconds(5)
  /// Calls after the first that may be answered 404.
  public var notFoundRetries = 3
  /// Upper bounds of the waits after a failure; the last one repeats.
  public var slowLane: [Duration] = [.seconds(60), .seconds(300), .seconds(1800), .seconds(7200), .seconds(21_600)]
  /// Whether a token that is still not found goes on in the slow lane.
  public var slowLaneAfterNotFound = false
  /// Whether a token goes on in the slow lane after a failure; otherwise it is asked again as after a 404.
  public var slowLaneAfterFailure = true
  /// Of a connection to Apple.
  public var connectTimeout: Duration = .seconds(3)
  /// Of a whole call; nil: 10 s, or four fifths of the lease of a message where that is shorter.
  public var timeout: Duration?
  /// Connections of one process to Apple.
  public var connections = 64
  /// Calls of one process under way at once.
  public var concurrency = 256
  /// Calls of all instances under way at once.
  public var sharedConcurrency = 1024
  /// Calls a second of all instances.
  public var rate: Double = 2000
  /// Calls at once after a time of rest, of all instances.
  public var rateBurst = 1000
  /// The longest `Retry-After` of Apple's that is believed: a mistaken one must not end every token.
  public var longestRetryAfter: Duration = .seconds(1800)
  /// How long an outcome can be read.
  public var resultLifetime: Duration = .seconds(48 * 3600)
  /// How long an install's attribution is remembered, for what later tokens of it take the place of.
  public var installLifetime: Duration = .seconds(90 * 86_400)
  /// Whether tokens of apps that are not configured are taken where any are.
  public var acceptsUnknownApps = false
  /// When Apple is left alone because it fails.
  public var breaker = Breaker()
  /// What Apple Ads' ids are called on events.
  public var names = Names()

  /// When Apple is not asked because it fails.
  public struct Breaker: Sendable, Hashable {
    public var window: Duration = .seconds(20)
    public var leastCalls = 10
    public var failureShare = 0.5
    public var firstPause: Duration = .seconds(2)
    public var longestPause: Duration = .seconds(60)
    public var jitter = 0.25
    public var probes = 1

    public init() {}
  }

  /// Names by id.
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
      guard (1...20).contains(steps.count) else { throw ConfigurationError(lane.path, "must hold 1 to 20 times") }
      slowLane = try steps.map { step throws(ConfigurationError) in try step.time(.seconds(1) ... .seconds(86_400)) }
    }
    slowLaneAfterNotFound = try node["slowLaneAfterNotFound"]?.bool() ?? slowLaneAfterNotFound
    slowLaneAfterFailure = try node["slowLaneAfterFailure"]?.bool() ?? slowLaneAfterFailure
    try node.time("connectTimeout", .milliseconds(100) ... .seconds(30), &connectTimeout)
    // Apple holds a request up to a second before a 404.
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
    try node.time("longestRetryAfter", .seconds(1) ... .seconds(86_400), &longestRetryAfter)
    // Longer than a token lives: one whose outcome is no longer kept can be told to be over.
    try node.time("resultLifetime", .seconds(25 * 3600) ... .seconds(30 * 86_400), &resultLifetime)
    try node.time("installLifetime", .seconds(86_400) ... .seconds(400 * 86_400), &installLifetime)
    acceptsUnknownApps = try node["acceptsUnknownApps"]?.bool() ?? acceptsUnknownApps
    if let node = try node["breaker"]?.mapping() {
      unknown += node.unknownKeys(["window", "leastCalls", "failureShare", "firstPause", "longestPause", "jitter", "probes"])
      try node.time("window", .seconds(1) ... .seconds(600), &breaker.window)
      try node.count("leastCalls", 1...10_000, &breaker.leastCalls)
      try node.number("failureShare", 0.01...1, &breaker.failureShare)
      try node.time("firstPause", .milliseconds(100) ... .seconds(600), &breaker.firstPause)
      try node.time("longestPause", .milliseconds(100) ... .seconds(3600), &breaker.longestPause)
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
  /// Whether tokens of the app are taken: of any where none is configured.
  public func takesTokens(of bundleId: String) -> Bool {
    apps.isEmpty || adServices.acceptsUnknownApps || app(bundleId) != nil
  }
}

extension ConfigurationNode {
  /// Names by ids of 64 bits.
  fileprivate func names(_ key: String) throws(ConfigurationError) -> [Int64: String] {
    guard let table = try self[key]?.mapping() else { return [:] }
    var names: [Int64: String] = [:]
    for key in table.keys {
      guard let id = Int64(key), String(id) == key else {
        throw ConfigurationError(table.path, "its keys must be ids; '\(key)' is none")
      }
      names[id] = try table.required(key).text()
    }
    guard names.count == table.size else { throw ConfigurationError(table.path, "its keys must be ids in quotes") }
    return names
  }
}
