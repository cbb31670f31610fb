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
  let arrivals: ArrivalCounter

  func receive(_ request: PublicRequest) async -> PublicHTTPResponse {
    let body: JSONObject
    do { body = try request.object() } catch { return .failure(.invalidArgument(field: error.field, error.reason)) }
    guard let signedPayload = body["signedPayload"]?.stringValue else {
      guard body["signedPayload"] == nil, body["notification_type"] != nil else {
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
    // The same keys as recovery uses: what comes both ways is one.
    let key = found.idempotencyKey(signedPayload: signedPayload)
    let answer = await accept(
      AcceptRequest(
        queue: .intake, idempotencyKey: key, orderKey: found.orderKey,
        naturalKey: found.naturalKey, keepsOrder: true,
        message: request.message(kind: Self.messageKind, body: Array(signedPayload.utf8))))
    if answer.status == 200 { arrivals.count(environment: found.environment, bundleId: found.bundleId) }
    return answer
  }

  private func accept(_ request: AcceptRequest) async -> PublicHTTPResponse {
    do { return .receipt(try await deliveries.accept(request)) } catch { return .notTaken(error, status: 503) }
  }
}
