import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime
import WireJSON

/// Takes in SKAdNetwork and AdAttributionKit postbacks, an ad network's own and developers' copies.
///
/// Nothing is verified here. What cannot be told apart or named is a 400; everything else is stored and answered 200,
/// forged or not: the verifier decides, and a sender learns nothing.
struct PostbackIntake: Sendable {
  /// The attribute that names the ad network whose URL a postback came to.
  static let expectedAdNetworkAttribute = "expectedAdNetworkId"

  let deliveries: DeliveryQueue

  func receive(_ request: PublicRequest, adNetworkId: String?) async -> PublicHTTPResponse {
    let found: PostbackSniffer.Findings
    do { found = try PostbackSniffer.inspect(request.body, limits: request.jsonLimits) } catch {
      return .failure(.invalidArgument(field: error.path, error.reason))
    }
    guard let naturalKey = found.naturalKey else {
      let field =
        switch found.kind {
        case .skAdNetwork: found.adNetworkId == nil ? "ad-network-id" : "transaction-id"
        case .adAttributionKit: "jws-string"
        }
      return .failure(.invalidArgument(field: field, "does not name the postback"))
    }
    var attributes = OriginalBody.attributes(contentType: request.contentType)
    attributes[Self.expectedAdNetworkAttribute] = adNetworkId
    let digest = Hex.encode(SHA256Digest.hash(request.body))
    // The same body at another network's URL is another question: it is answered by another verdict.
    let scope = adNetworkId.map { "\($0)\u{0}" } ?? ""
    do {
      let outcome = try await deliveries.accept(
        AcceptRequest(
          queue: .intake, idempotencyKey: "\(scope)\(naturalKey)\u{0}\(digest)", orderKey: naturalKey,
          naturalKey: naturalKey,
          message: request.message(kind: found.kind.rawValue, attributes: attributes),
          // verifier claims the natural key, which is remembered for as long as devices send again.
          isKnownBriefly: true))
      return .receipt(outcome)
    } catch {
      return .notTaken(error, status: 500)
    }
  }
}
