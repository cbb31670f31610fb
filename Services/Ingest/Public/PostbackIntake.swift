import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime
import WireJSON

/// Accepts SKAdNetwork and AdAttributionKit postbacks: those that devices send to ad networks, and the copies that they send to developers.
///
/// A body with `jws-string` is an AdAttributionKit postback, one with `attribution-signature` a SKAdNetwork postback. The natural key is
/// made of the postback's identifiers: for SKAdNetwork it is `skadnetwork:` with ad network, transaction id and, from version 4.0 on,
/// sequence index (``PostbackSniffer``), all in lower case. If the postback is genuine, verifier claims this natural key, which is also the
/// event's id. The idempotency key is the natural key with the SHA-256 of the body, and before it the ad network of the URL if the URL names
/// one.
///
/// Nothing is verified here. A body whose kind or identifiers cannot be read is answered 400. Any other body is stored and answered 200,
/// even if it is forged: verifier decides later, and the sender learns nothing. A ``ShardWorker`` of verifier
/// (`ShardWorker+Work.swift`) passes the message to `VerificationWorker` (`VerificationWorker+SKAdNetwork.swift`, `+AdAttributionKit`).
struct PostbackIntake: Sendable {
  let deliveries: DeliveryQueue

  /// - Parameter adNetworkId: the ad network that the URL names, in any case; nil if it names none.
  func receive(_ request: PublicHTTPRequest, adNetworkId: String?) async -> PublicHTTPResponse {
    let adNetworkId = adNetworkId?.asciiLowercased
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
      return .failure(.invalidArgument(field: field, "is missing or invalid, so the postback cannot be identified"))
    }
    var attributes = OriginalBody.attributes(contentType: request.contentType)
    attributes[PostbackKind.expectedAdNetworkAttribute] = adNetworkId
    let digest = Hex.encode(SHA256Digest.hash(request.body))
    // The verdict depends on the ad network of the URL, so the same body at another URL is another delivery.
    let scope = adNetworkId.map { "\($0)\u{0}" } ?? ""
    do {
      let outcome = try await deliveries.accept(
        AcceptRequest(
          // The order key only chooses the shard, because postbacks do not keep order.
          queue: .intake, idempotencyKey: "\(scope)\(naturalKey)\u{0}\(digest)", orderKey: naturalKey,
          naturalKey: naturalKey,
          message: request.message(kind: found.kind.rawValue, attributes: attributes),
          // Natural keys are stored for longer than idempotency keys that are known briefly, so that a late copy of a verified postback makes
          // no second event.
          isKnownBriefly: true))
      return .receipt(outcome)
    } catch {
      return .notAccepted(error, retryStatus: PublicRoute.postback(adNetworkId: adNetworkId).retryStatus)
    }
  }
}
