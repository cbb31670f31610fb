import AppStore
import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime
import WireJSON

/// Accepts App Store Server Notifications V2 (Responding to App Store Server Notifications). It answers 200 once they are on disk.
/// ``NotificationSniffer`` makes their keys: the idempotency key is the natural key (environment and `notificationUUID`) with a digest of the
/// bytes.
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
      // The body is not kept, because version 1 contains the app's shared secret.
      let digest = Hex.encode(SHA256Digest.hash(request.body))
      return await accept(
        AcceptRequest(
          queue: .intake, idempotencyKey: "notification-v1:\(digest)",
          message: request.message(kind: NotificationMessage.kind, body: [], attributes: NotificationMessage.version1Attributes)))
    }
    let found = NotificationSniffer(signedPayload: signedPayload)
    // Recovery uses the same keys, so a notification that comes both ways counts once. At the URL of the app that it names, the key is the
    // same as at the URL for all apps, because its verdict is the same. At the URL of another app the verdict differs, so that must not
    // count as a repeat.
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
