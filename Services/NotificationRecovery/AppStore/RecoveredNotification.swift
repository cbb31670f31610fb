import AppStore
import AttributionQueue
import ServiceRuntime

/// A notification of Apple's history to be queued in the intake. It is accepted like one that Apple posts, under the same keys, so that its
/// copies count once.
struct RecoveredNotification: Sendable {
  enum AcceptResult {
    case accepted(DeliveryID)
    /// With the delivery's id, unless it was verified already.
    case duplicate(DeliveryID?)

    /// The label in metrics.
    var name: String { if case .accepted = self { "accepted" } else { "duplicate" } }
  }

  let signedPayload: String
  let found: NotificationSniffer

  init(_ signedPayload: String) {
    self.signedPayload = signedPayload
    found = NotificationSniffer(signedPayload: signedPayload)
  }

  /// Queues the notification unless it was verified before. `attributes` name its source. Before `notBefore` (milliseconds since 1970) it
  /// is stored but not worked.
  func accept(_ deliveries: DeliveryQueue, attributes: [String: String], notBefore: Int64? = nil) async throws(QueueError) -> AcceptResult {
    if let naturalKey = found.naturalKey,
      try await deliveries.isNaturalKeySeen(naturalKey, orderKey: found.orderKey, long: true)
    {
      return .duplicate(nil)
    }
    // The body as Apple would have posted it.
    let original = OriginalBody.attributes(before: #"{"signedPayload":""#, after: #""}"#, contentType: "application/json")
    let request = AcceptRequest(
      queue: .intake, idempotencyKey: found.idempotencyKey(signedPayload: signedPayload), orderKey: found.orderKey,
      naturalKey: found.naturalKey,
      // A held-back notification must not delay later ones.
      keepsOrder: notBefore == nil,
      message: QueueMessage(
        kind: NotificationMessage.kind, body: Array(signedPayload.utf8), attributes: attributes.merging(original) { one, _ in one },
        receivedAt: WallClock.now(), source: "recovery"),
      notBefore: notBefore)
    return switch try await deliveries.accept(request) {
    case .accepted(let id): .accepted(id)
    case .duplicate(let id): .duplicate(id)
    }
  }
}
