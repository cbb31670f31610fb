/// A URL strategy: the hosts to which an app's sessions may be sent.
public struct ConsentStrategy: Sendable, Hashable {
  /// The name of the strategy in SDKs and in the configuration.
  public let name: String
  /// The domains in the order in which they are tried. No others are used.
  public let domains: [String]
  /// True if the data must stay in the region of the domains.
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

/// Maps the name of a URL strategy to hosts: those that begin with `consent.` with consent, those that begin with `analytics.` without
/// (measurement partners' guides on App Tracking Transparency). The strategies can be configured.
public struct ConsentRoutingTable: Sendable, Hashable {
  /// The strategy of an app that has none in the configuration.
  public static let defaultStrategy = "default"

  public let strategies: [String: ConsentStrategy]

  public init(_ strategies: [ConsentStrategy]) {
    self.strategies = Dictionary(strategies.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
  }

  /// The strategies that Adjust, a measurement partner, has published.
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

  /// The hosts for a strategy. Throws ``FieldError`` for an unknown one. It is not replaced by the default strategy, because then data that
  /// must stay in a region could leave it.
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
