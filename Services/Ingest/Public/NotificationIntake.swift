import AppStore
import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime
import WireJSON

/// Accepts App Store Server Notifications V2 (Responding to App Store Server Notifications). It answers 200 when they are stored in the
/// queue `intake`; verifier verifies them later. ``NotificationSniffer`` makes the keys: the idempotency key is the natural key
/// (environment and `notificationUUID`) with a digest of the bytes.
struct NotificationIntake: Sendable {
  let deliveries: DeliveryQueue

  /// - Parameter bundleId: the app whose URL was called, which verifier then expects; nil at the URL for all apps.
  func receive(_ request: PublicHTTPRequest, bundleId: String?) async -> PublicHTTPResponse {
    let sent: JSONObject
    do { sent = try request.object() } catch { return .failure(.invalidArgument(field: error.field, error.reason)) }
    guard let signedPayload = sent["signedPayload"]?.stringValue else {
      guard NotificationMessage.isVersion1(sent) else {
        return .failure(.invalidArgument(field: "signedPayload", "must be a string"))
      }
      // A notification of version 1 contains the app's shared secret, so its body is not stored. Verifier rejects it.
      let digest = Hex.encode(SHA256Digest.hash(request.body))
      return await accept(
        AcceptRequest(
          queue: .intake, idempotencyKey: "notification-v1:\(digest)",
          message: request.message(kind: NotificationMessage.kind, body: [], attributes: NotificationMessage.version1Attributes)))
    }
    let found = NotificationSniffer(signedPayload: signedPayload)
    // notification-recovery uses the same keys, so a notification counts once that is both posted and recovered. The key is also the same
    // at the URL for all apps and at the URL of the app that the notification names, because the verdict is the same. At the URL of another
    // app the verdict differs, so the key contains that app.
    var key = found.idempotencyKey(signedPayload: signedPayload)
    let body = Array(signedPayload.utf8)
    var attributes = OriginalBody.attributes(
      of: request.body, valueOf: "signedPayload", body: body, contentType: request.contentType)
    if let bundleId {
      attributes[SignedDataExpectation.bundleIdAttribute] = bundleId
      if found.bundleId?.isExactly(bundleId) != true { key = "\(bundleId)\u{0}\(key)" }
    }
    return await accept(
      AcceptRequest(
        queue: .intake, idempotencyKey: key, orderKey: found.orderKey,
        naturalKey: found.naturalKey, keepsOrder: true,
        message: request.message(kind: NotificationMessage.kind, body: body, attributes: attributes)))
  }

  private func accept(_ request: AcceptRequest) async -> PublicHTTPResponse {
    do { return .receipt(try await deliveries.accept(request)) } catch { return .notAccepted(error) }
  }
}
