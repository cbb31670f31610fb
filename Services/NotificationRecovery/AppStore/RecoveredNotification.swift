import AppStore
import AttributionQueue
import ServiceRuntime

/// A notification of Apple's history on its way into the intake: by the same step and under the same keys as one that Apple posts, so
/// that all copies of it melt into one.
struct RecoveredNotification: Sendable {
  enum AcceptResult {
    case accepted(DeliveryID)
    /// The delivery is known as long as it is not verified yet.
    case duplicate(DeliveryID?)

    /// As metrics call it.
    var name: String { if case .accepted = self { "accepted" } else { "duplicate" } }
  }

  let signedPayload: String
  let found: NotificationSniffer

  init(_ signedPayload: String) {
    self.signedPayload = signedPayload
    found = NotificationSniffer(signedPayload: signedPayload)
  }

  /// Takes it in, unless it was verified before: that needs no second verification. `attributes` say who brought it;
  /// before `notBefore` (milliseconds since 1970) it is stored, but not worked.
  func takeIn(_ deliveries: DeliveryQueue, attributes: [String: String], notBefore: Int64? = nil) async throws(QueueError) -> AcceptResult {
    if let naturalKey = found.naturalKey,
      try await deliveries.isNaturalKeySeen(naturalKey, orderKey: found.orderKey, long: true)
    {
      return .duplicate(nil)
    }
    // As Apple would have posted it.
    let original = OriginalBody.attributes(before: #"{"signedPayload":""#, after: #""}"#, contentType: "application/json")
    let request = AcceptRequest(
      queue: .intake, idempotencyKey: found.idempotencyKey(signedPayload: signedPayload), orderKey: found.orderKey,
      naturalKey: found.naturalKey,
      // What is held back must not hold up what is fresh.
      keepsOrder: notBefore == nil,
      message: QueueMessage(
        kind: "notification", body: Array(signedPayload.utf8), attributes: attributes.merging(original) { one, _ in one },
        receivedAt: WallClock.now(), source: "recovery"),
      notBefore: notBefore)
    return switch try await deliveries.accept(request) {
    case .accepted(let id): .accepted(id)
    case .duplicate(let id): .duplicate(id)
    }
  }
}
