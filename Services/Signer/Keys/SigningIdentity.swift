import AppleAttribution
import Cryptography
import ServiceRuntime

/// What is signed; the name is the method's, and a metric's label.
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

/// A private key and whose it is.
final class SigningIdentity: Sendable {
  /// The ad network's id, or the app's bundle id.
  let owner: String
  let keyId: String
  let key: SigningKey
  /// The header of its AdAttributionKit impressions.
  let impressionHeader: String
  /// One for each method, in its order.
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

/// The names of the signer's own metrics.
enum SigningMetrics {
  static let signatures = "attribution_signatures_total"
  static let keyInfo = "attribution_key_info"
  static let auditFailures = "attribution_audit_failures_total"

  static func declare(_ metrics: MetricsRegistry) {
    // The owners and keys are those of the configuration: the label values are bounded.
    metrics.counter(signatures, help: "Signatures made.", labels: ["method", "owner", "key_id"])
    metrics.gauge(keyInfo, help: "Keys and their states.", labels: ["owner", "key_id", "state"])
    metrics.counter(auditFailures, help: "Signatures that were not handed out because they could not be recorded.")
  }
}
