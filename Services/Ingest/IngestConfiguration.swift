import AppleAttribution
import AttributionQueue
import ServiceRuntime

/// The part of the deployment's configuration that ingest uses for sessions.
struct IngestConfiguration: Sendable {
  /// The timeout of one attempt to forward a session.
  static let forwardTimeout: Duration = .seconds(5)

  let routing: SessionRouting
  /// The longest time for which a session is held until the user answers the ATT prompt, milliseconds.
  let maxWait: Int64
  /// The time for which a session is retried that no host accepts, from the time at which it may be sent; milliseconds.
  let retryTimeout: Int64

  /// Throws ``ConfigurationError`` if an app names an unknown strategy, or a strategy has no valid domains.
  init(_ deployment: DeploymentConfiguration) throws(ConfigurationError) {
    var strategies = ConsentRoutingTable.published.strategies
    maxWait = deployment.consentMaxWait.map { $0.milliseconds } ?? ATTStatusWait.maxMilliseconds
    retryTimeout = deployment.consentPatience.milliseconds
    for (name, settings) in deployment.consentStrategies {
      let domains = settings.domains
      guard !domains.isEmpty, domains.allSatisfy(Self.isDomain) else {
        throw ConfigurationError("consentRouting.strategies.\(name)", "must have domains: a list of domain names in lower case")
      }
      // If the name of a strategy says that data stays in a region, this also applies if the deployment configures other domains for it.
      strategies[name] = ConsentStrategy(
        name: name, domains: domains,
        isDataResidency: settings.isDataResidency ?? strategies[name]?.isDataResidency ?? name.lowercased().contains("residency"))
    }
    var byApp: [String: String] = [:]
    for (index, app) in deployment.apps.enumerated() {
      guard strategies[app.consentStrategy] != nil else {
        throw ConfigurationError(
          "apps[\(index)].consentRouting.strategy", "is '\(app.consentStrategy)', which is not a known strategy")
      }
      byApp[app.bundleId] = app.consentStrategy
    }
    routing = SessionRouting(
      table: ConsentRoutingTable(Array(strategies.values)),
      filter: ConsentFilter(additionalNames: deployment.consentRemovedFields), strategies: byApp)
  }

  /// The time for which the payload of a session is stored for sending, seconds: the longest wait, the retries, and a margin.
  var payloadSeconds: Int { Int((maxWait + retryTimeout) / 1000) + SessionStore.sentPayloadSeconds }

  /// True for a domain name in lower case. It is at most 240 bytes long, so that a host name with a prefix fits into the 253 bytes of DNS.
  private static func isDomain(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 240 && !text.hasPrefix(".") && !text.hasSuffix(".")
      && text.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
      }
  }
}
