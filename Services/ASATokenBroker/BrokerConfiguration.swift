import AppleAttribution
import AttributionQueue
import ServiceRuntime
import UpstreamPacing

/// The part of the deployment's configuration that asa-token-broker uses.
struct BrokerConfiguration: Sendable {
  let settings: AdServicesSettings
  /// The timeout of one call to Apple.
  let timeout: Duration
  let retryRule: AdServicesRetryRule
  let breakerRule: CircuitBreaker.Rule
  let rateRule: RateRule
  let names: CampaignNames
  /// Removes the fields of a record that need consent.
  let filter: ConsentFilter

  /// Throws ``ConfigurationError`` if values contradict each other.
  init(_ deployment: DeploymentConfiguration) throws(ConfigurationError) {
    let settings = deployment.adServices
    // The call must end before the lease of its token does, or another worker would call Apple about the same token.
    let timeout = settings.timeout ?? min(.seconds(10), deployment.queue.lease * 4 / 5)
    guard timeout < deployment.queue.lease else {
      throw ConfigurationError(
        "adServices.timeout", "must be less than queues.lease, because the lease of a token must not end during its call")
    }
    guard settings.breaker.firstPause <= settings.breaker.maxPause else {
      throw ConfigurationError("adServices.breaker.firstPause", "must not be more than adServices.breaker.longestPause")
    }
    guard let rateRule = RateRule(perSecond: settings.rate, burst: settings.rateBurst) else {
      throw ConfigurationError(
        "adServices.rate",
        "must be more than 0 and at most \(Int(RateRule.maxRate)) calls a second, and rateBurst must be 1 to \(RateRule.maxBurst)")
    }
    filter = ConsentFilter(additionalNames: deployment.consentRemovedFields)
    self.settings = settings
    self.timeout = timeout
    self.rateRule = rateRule
    retryRule = AdServicesRetryRule(
      firstCallDelay: settings.firstCallDelay.milliseconds, notFoundInterval: settings.notFoundInterval.milliseconds,
      notFoundRetries: settings.notFoundRetries, slowLane: settings.slowLane.map(\.milliseconds),
      slowLaneAfterNotFound: settings.slowLaneAfterNotFound, slowLaneAfterFailure: settings.slowLaneAfterFailure)
    breakerRule = CircuitBreaker.Rule(
      window: settings.breaker.window.milliseconds, minCalls: settings.breaker.minCalls,
      failureShare: settings.breaker.failureShare, firstPause: settings.breaker.firstPause.milliseconds,
      maxPause: settings.breaker.maxPause.milliseconds, jitter: settings.breaker.jitter, probes: settings.breaker.probes,
      probeTimeout: timeout.milliseconds * 2)
    names = CampaignNames(
      organizations: settings.names.organizations, campaigns: settings.names.campaigns, adGroups: settings.names.adGroups,
      keywords: settings.names.keywords, ads: settings.names.ads)
  }
}
