import AppStore
import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime
import WireJSON

/// Takes in App Store Server Notifications V2 (Responding to App Store Server Notifications): 200 once they are on
/// disk.
struct NotificationIntake: Sendable {
  /// The message's body is the `signedPayload`. A notification of version 1 is known by its form and never parsed: its
  /// message has no body and the attribute `version`, and is recorded as rejected.
  static let messageKind = "notification"

  let deliveries: DeliveryQueue

  /// - Parameter bundleId: the app whose URL it came to, which the verifier then expects; nil at the URL of all apps.
  func receive(_ request: PublicRequest, bundleId: String?) async -> PublicHTTPResponse {
    let sent: JSONObject
    do { sent = try request.object() } catch { return .failure(.invalidArgument(field: error.field, error.reason)) }
    guard let signedPayload = sent["signedPayload"]?.stringValue else {
      guard sent["signedPayload"] == nil, sent["notification_type"] != nil else {
        return .failure(.invalidArgument(field: "signedPayload", "must be a string"))
      }
      // Version 1 carries the app's shared secret: the body is not kept.
      let digest = Hex.encode(SHA256Digest.hash(request.body))
      return await accept(
        AcceptRequest(
          queue: .intake, idempotencyKey: "notification-v1:\(digest)",
          message: request.message(kind: Self.messageKind, body: [], attributes: ["version": "1"])))
    }
    let found = NotificationSniffer(signedPayload: signedPayload)
    // The same keys as recovery uses: what comes both ways is one. So is what comes to the URL of the app that it names, since the
    // proof of these bytes is the proof of that name. What names another app, or none, is another question there, answered by
    // another verdict: it must not stand in the place of the same bytes where they belong.
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
        message: request.message(kind: Self.messageKind, body: body, attributes: attributes)))
  }

  private func accept(_ request: AcceptRequest) async -> PublicHTTPResponse {
    do { return .receipt(try await deliveries.accept(request)) } catch { return .notTaken(error, status: 503) }
  }
}
