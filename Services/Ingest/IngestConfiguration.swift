import AppleAttribution
import AttributionQueue
import ServiceRuntime

/// Ingest's part of the deployment's configuration.
struct IngestConfiguration: Sendable {
  /// The timeout of one attempt to forward a session.
  static let forwardTimeout: Duration = .seconds(5)

  let routing: SessionRouting
  /// The longest that a session waits for the user's answer, milliseconds.
  let maxWait: Int64
  /// How long a session that no host accepts is retried, counted from when it may be sent, milliseconds.
  let patience: Int64

  /// Throws ``ConfigurationError`` if an app names an unknown strategy, or a strategy has no domain.
  init(_ deployment: DeploymentConfiguration) throws(ConfigurationError) {
    var strategies = ConsentRoutingTable.published.strategies
    maxWait = deployment.consentMaxWait.map { $0.milliseconds } ?? ATTStatusWait.maxMilliseconds
    patience = deployment.consentPatience.milliseconds
    for (name, settings) in deployment.consentStrategies {
      let domains = settings.domains
      guard !domains.isEmpty, domains.allSatisfy(Self.isDomain) else {
        throw ConfigurationError("consentRouting.strategies.\(name)", "must be a list of domain names")
      }
      // If a strategy's name says that data stays in a region, that also applies with domains of the deployment.
      strategies[name] = ConsentStrategy(
        name: name, domains: domains,
        isDataResidency: settings.isDataResidency ?? strategies[name]?.isDataResidency ?? name.lowercased().contains("residency"))
    }
    var byApp: [String: String] = [:]
    for (index, app) in deployment.apps.enumerated() {
      guard strategies[app.consentStrategy] != nil else {
        throw ConfigurationError(
          "apps[\(index)].consentRouting.strategy", "'\(app.consentStrategy)' is not a known strategy")
      }
      byApp[app.bundleId] = app.consentStrategy
    }
    routing = SessionRouting(
      table: ConsentRoutingTable(Array(strategies.values)),
      filter: ConsentFilter(additionalNames: deployment.consentRemovedFields), strategies: byApp)
  }

  /// How long the payload of a session is kept for sending, seconds: the longest wait, the retries, and a margin.
  var payloadSeconds: Int { Int((maxWait + patience) / 1000) + SessionStore.sentPayloadSeconds }

  private static func isDomain(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 240 && !text.hasPrefix(".") && !text.hasSuffix(".")
      && text.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
      }
  }
}
