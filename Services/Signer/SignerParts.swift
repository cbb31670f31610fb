import AttributionProtocol
import ServiceRuntime

extension ServiceParts {
  /// Puts the signer together: the keys, the record, and one handler a method.
  ///
  /// It needs no Redis but for web ads that wait for the device's request.
  static func signer(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let metrics = environment.metrics
    SigningMetrics.declare(metrics)
    let keys = try LiveKeyring(environment.configuration, metrics: metrics, logger: environment.logger)
    let audit = try environment.variables.auditFile.map { path throws(ConfigurationError) in try AuditLog(path: path) }
    let desk = SigningDesk(keys: keys, audit: audit, metrics: metrics, now: WallClock.now)
    let store = environment.redis.map { WebImpressionStore(redis: $0) }
    let domains = try environment.configuration.webAds.signingRule()
    let skAdNetwork = SignSKAdNetworkImpressionHandler(desk: desk, domains: domains)
    let web = SignSKAdNetworkWebImpressionHandler(desk: desk, domains: domains, store: store)
    let adAttributionKit = SignAdAttributionKitImpressionHandler(desk: desk)

    var parts = ServiceParts()
    parts.methods = SignerService.methods
    parts.handlers = [
      skAdNetwork, web, adAttributionKit,
      SignImpressionsHandler(skAdNetwork: skAdNetwork, web: web, adAttributionKit: adAttributionKit),
      SignDeferredSKAdNetworkWebImpressionHandler(desk: desk, store: store),
      CreateAppStoreServerTokenHandler(desk: desk),
      SignPromotionalOfferHandler(desk: desk),
      SignPromotionalOfferJWSHandler(desk: desk),
      SignIntroductoryOfferEligibilityHandler(desk: desk),
      SignAdvancedCommerceRequestHandler(desk: desk),
      ListSigningKeysHandler(desk: desk),
    ]
    parts.reload = { configuration throws(ConfigurationError) in
      let replace = { () throws(ConfigurationError) in try keys.replace(by: configuration) }
      if let audit { try audit.reopen(with: replace) } else { try replace() }
    }
    return parts
  }
}
