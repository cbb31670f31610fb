import AttributionProtocol
import ServiceRuntime

extension ServiceParts {
  /// Puts the signer together: the keys, and one handler a method. It needs no Redis.
  static func signer(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let keyring = try Keyring(environment.configuration)
    for (id, keys) in keyring.adNetworks.sorted(by: { $0.key < $1.key }) where !keys.contains(where: { $0.state == .active }) {
      environment.logger.warning("an ad network has no active key: nothing is signed for it", metadata: ["adNetworkId": "\(id)"])
    }
    let skAdNetwork = SignSKAdNetworkImpressionHandler(keyring: keyring, now: WallClock.now)
    let web = SignSKAdNetworkWebImpressionHandler(keyring: keyring, now: WallClock.now)
    let adAttributionKit = SignAdAttributionKitImpressionHandler(keyring: keyring, now: WallClock.now)

    var parts = ServiceParts()
    parts.methods = SignerService.methods
    parts.handlers = [
      skAdNetwork, web, adAttributionKit,
      SignImpressionsHandler(skAdNetwork: skAdNetwork, web: web, adAttributionKit: adAttributionKit),
      CreateAppStoreServerTokenHandler(keyring: keyring, now: WallClock.now),
      SignPromotionalOfferHandler(keyring: keyring, now: WallClock.now),
      SignPromotionalOfferJWSHandler(keyring: keyring, now: WallClock.now),
      SignIntroductoryOfferEligibilityHandler(keyring: keyring, now: WallClock.now),
      SignAdvancedCommerceRequestHandler(keyring: keyring, now: WallClock.now),
      ListSigningKeysHandler(keyring: keyring),
    ]
    return parts
  }
}
