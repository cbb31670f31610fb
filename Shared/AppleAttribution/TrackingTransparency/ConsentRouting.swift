/// A URL strategy: the hosts to which an app's sessions may be sent.
public struct ConsentStrategy: Sendable, Hashable {
  /// The name that SDKs and configurations use.
  public let name: String
  /// The domains in the order in which they are tried. Only these are used.
  public let domains: [String]
  /// True if the data must stay in one region.
  public let isDataResidency: Bool

  public init(name: String, domains: [String], isDataResidency: Bool = false) {
    self.name = name
    self.domains = domains
    self.isDataResidency = isDataResidency
  }
}

/// The hosts for a session, in the order in which they are tried.
public struct ConsentRoute: Sendable, Hashable {
  public let strategy: String
  public let hosts: [String]
  public let isDataResidency: Bool
}

/// Maps a strategy to its hosts: `consent.` hosts with consent, `analytics.` hosts without (measurement partners' guides on App Tracking
/// Transparency). The strategies are configuration.
public struct ConsentRoutingTable: Sendable, Hashable {
  /// The default strategy of apps.
  public static let defaultStrategy = "default"

  public let strategies: [String: ConsentStrategy]

  public init(_ strategies: [ConsentStrategy]) {
    self.strategies = Dictionary(strategies.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
  }

  /// The published strategies.
  public static let published = ConsentRoutingTable([
    ConsentStrategy(name: defaultStrategy, domains: ["adjust.com", "adjust.io"]),
    ConsentStrategy(name: "ADJDataResidencyEU", domains: ["eu.adjust.com"], isDataResidency: true),
    ConsentStrategy(name: "ADJDataResidencyTR", domains: ["tr.adjust.com"], isDataResidency: true),
    ConsentStrategy(name: "ADJDataResidencyUS", domains: ["us.adjust.com"], isDataResidency: true),
    ConsentStrategy(name: "ADJUrlStrategyChina", domains: ["adjust.world"]),
    ConsentStrategy(name: "ADJUrlStrategyCn", domains: ["adjust.cn"]),
    ConsentStrategy(name: "ADJUrlStrategyCnOnly", domains: ["adjust.cn"]),
    ConsentStrategy(name: "ADJUrlStrategyIndia", domains: ["adjust.net.in"]),
  ])

  /// The hosts for a strategy. Throws ``FieldError`` for an unknown one; there is no default, because data that must stay in a region could
  /// leave it.
  public func route(strategy name: String, consent: Bool, field: String = "urlStrategy") throws(FieldError)
    -> ConsentRoute
  {
    guard let strategy = strategies[name], !strategy.domains.isEmpty else {
      throw FieldError(field: field, reason: "is not a known strategy")
    }
    let prefix = consent ? "consent." : "analytics."
    return ConsentRoute(
      strategy: name, hosts: strategy.domains.map { prefix + $0 }, isDataResidency: strategy.isDataResidency)
  }
}
