import AttributionProtocol
import ServiceRuntime

extension ServiceParts {
  /// Builds signer: the keys (``LiveKeyring``), the audit log (``AuditLog``), and one handler for each method, in `Handlers`. Every handler
  /// gets the ``SignatureIssuer``, which counts and records the signatures.
  ///
  /// Signer needs Redis only for deferred web ads (``WebImpressionStore``).
  static func signer(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let metrics = environment.metrics
    SigningMetrics.declare(metrics)
    let keys = try LiveKeyring(environment.configuration, metrics: metrics, logger: environment.logger, now: WallClock.now)
    let audit = try environment.variables.auditFile.map { path throws(ConfigurationError) in try AuditLog(path: path) }
    let issuer = SignatureIssuer(keys: keys, audit: audit, metrics: metrics, now: WallClock.now)
    let store = environment.redis.map { WebImpressionStore(redis: $0) }
    let domains = try environment.configuration.webAds.signingRule()
    let skAdNetwork = SignSKAdNetworkImpressionHandler(issuer: issuer, domains: domains)
    let web = SignSKAdNetworkWebImpressionHandler(issuer: issuer, domains: domains, store: store)
    let promotionalOffer = SignPromotionalOfferHandler(issuer: issuer)
    let promotionalOfferJWS = SignPromotionalOfferJWSHandler(issuer: issuer)
    let introductoryOfferEligibility = SignIntroductoryOfferEligibilityHandler(issuer: issuer)
    let advancedCommerceRequest = SignAdvancedCommerceRequestHandler(issuer: issuer)
    let adAttributionKit = SignAdAttributionKitImpressionHandler(issuer: issuer)

    var parts = ServiceParts()
    parts.methods = SignerService.methods
    parts.handlers = [
      skAdNetwork, web, adAttributionKit,
      SignImpressionsHandler(skAdNetwork: skAdNetwork, web: web, adAttributionKit: adAttributionKit),
      SignDeferredSKAdNetworkWebImpressionHandler(issuer: issuer, store: store),
      CreateAppStoreServerTokenHandler(issuer: issuer),
      promotionalOffer, promotionalOfferJWS, introductoryOfferEligibility, advancedCommerceRequest,
      SignOffersHandler(
        promotionalOffer: promotionalOffer, promotionalOfferJWS: promotionalOfferJWS,
        introductoryOfferEligibility: introductoryOfferEligibility, advancedCommerceRequest: advancedCommerceRequest),
      ListSigningKeysHandler(issuer: issuer),
    ]
    // SIGHUP replaces the keys, and opens the audit file again, which a log rotation may have moved. Both happen, or none.
    parts.reload = { configuration throws(ConfigurationError) in
      let replace = { () throws(ConfigurationError) in try keys.replace(by: configuration) }
      if let audit { try audit.reopen(with: replace) } else { try replace() }
    }
    return parts
  }
}
