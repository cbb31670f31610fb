import AppleAttribution
import Cryptography
import ServiceRuntime

/// The kind of a signature. Its name is that of the RPC that signs a single item; metrics and the audit log contain it.
enum SignatureMethod: Int, CaseIterable, Sendable {
  case skAdNetworkImpression, skAdNetworkWebImpression, adAttributionKitImpression
  case appStoreServerToken, promotionalOffer, promotionalOfferJWS, introductoryOfferEligibility, advancedCommerceRequest

  var name: String {
    switch self {
    case .skAdNetworkImpression: "SignSKAdNetworkImpression"
    case .skAdNetworkWebImpression: "SignSKAdNetworkWebImpression"
    case .adAttributionKitImpression: "SignAdAttributionKitImpression"
    case .appStoreServerToken: "CreateAppStoreServerToken"
    case .promotionalOffer: "SignPromotionalOffer"
    case .promotionalOfferJWS: "SignPromotionalOfferJWS"
    case .introductoryOfferEligibility: "SignIntroductoryOfferEligibility"
    case .advancedCommerceRequest: "SignAdvancedCommerceRequest"
    }
  }
}

/// A private key with its owner, and the counters of its signatures.
final class SigningIdentity: Sendable {
  /// The ad network's id, or the app's bundle id.
  let owner: String
  let keyId: String
  let key: SigningKey
  /// The encoded JWS header of AdAttributionKit impressions, which is the same for all impressions of an ad network.
  let impressionHeader: String
  /// The metric's series for each ``SignatureMethod``, by its raw value. They are looked up once, because every signature counts.
  private let signatures: [MetricSeries?]

  init(owner: String, keyId: String, key: SigningKey, metrics: MetricsRegistry) {
    self.owner = owner
    self.keyId = keyId
    self.key = key
    impressionHeader = AdAttributionKitImpression.encodedHeader(adNetworkId: owner)
    signatures = SignatureMethod.allCases.map { metrics.series(SigningMetrics.signatures, [$0.name, owner, keyId]) }
  }

  func count(_ method: SignatureMethod) { signatures[method.rawValue]?.add() }
}

/// The names of signer's metrics.
enum SigningMetrics {
  static let signatures = "attribution_signatures_total"
  static let keyInfo = "attribution_key_info"
  static let keyAge = "attribution_key_age_seconds"
  static let auditFailures = "attribution_audit_failures_total"

  static func declare(_ metrics: MetricsRegistry) {
    // The label values are bounded, because owners and keys are those of the configuration.
    metrics.counter(signatures, help: "Signatures created.", labels: ["method", "owner", "key_id"])
    metrics.gauge(keyInfo, help: "Keys and their states.", labels: ["owner", "key_id", "state"])
    metrics.gauge(
      keyAge, help: "Time since a key was created as configured, or else since its file was last changed.",
      labels: ["owner", "key_id", "state"])
    metrics.counter(auditFailures, help: "Signatures that were not returned because they could not be written to the audit log.")
  }
}
