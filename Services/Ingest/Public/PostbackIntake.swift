import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime
import WireJSON

/// Accepts SKAdNetwork and AdAttributionKit postbacks: an ad network's own, and developers' copies.
///
/// A body with `jws-string` is an AdAttributionKit postback, one with `attribution-signature` a SKAdNetwork postback. Its identifiers give the
/// natural key, for SKAdNetwork `skadnetwork:` with ad network, transaction id and, from version 4.0 on, sequence index (``PostbackSniffer``).
/// Verifier claims the same natural key if the postback is genuine, and it becomes the event's id. The idempotency key is the natural key with
/// the SHA-256 of the body, after the ad network of the URL if it names one.
///
/// Nothing is verified here. A body whose kind or identifier cannot be read is answered 400. Everything else is stored and answered 200, even if
/// it is forged: verifier decides, and the sender learns nothing. The accepted message wakes a ``ShardWorker`` of verifier, which calls
/// `VerificationWorker`.
struct PostbackIntake: Sendable {
  let deliveries: DeliveryQueue

  func receive(_ request: PublicHTTPRequest, adNetworkId: String?) async -> PublicHTTPResponse {
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
    attributes[PostbackKind.expectedAdNetworkAttribute] = adNetworkId
    let digest = Hex.encode(SHA256Digest.hash(request.body))
    // The verdict depends on the ad network of the URL, so the same body at another URL is not a repeat.
    let scope = adNetworkId.map { "\($0)\u{0}" } ?? ""
    do {
      let outcome = try await deliveries.accept(
        AcceptRequest(
          queue: .intake, idempotencyKey: "\(scope)\(naturalKey)\u{0}\(digest)", orderKey: naturalKey,
          naturalKey: naturalKey,
          message: request.message(kind: found.kind.rawValue, attributes: attributes),
          // Verifier claims the natural key of a verified postback, which is stored for longer than devices repeat it.
          isKnownBriefly: true))
      return .receipt(outcome)
    } catch {
      return .notAccepted(error, retryStatus: PublicRoute.postback(adNetworkId: adNetworkId).retryStatus)
    }
  }
}
