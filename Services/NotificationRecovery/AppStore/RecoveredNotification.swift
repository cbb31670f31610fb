import AppStore
import AttributionQueue
import ServiceRuntime

/// A notification from Apple's history that is to be queued in the intake. It is accepted under the same keys as a notification that Apple
/// posts, so that several copies of a notification count once.
struct RecoveredNotification: Sendable {
  enum AcceptResult {
    case accepted(DeliveryID)
    /// A copy is in the queue already; the id is that of its delivery. Nil if a copy was verified before.
    case duplicate(DeliveryID?)

    /// The value of the label `outcome` in metrics.
    var label: String { if case .accepted = self { "accepted" } else { "duplicate" } }
  }

  /// The JWS from Apple's history.
  let signedPayload: String
  /// Read without verification, and therefore used only for keys and for the order of deliveries.
  let identifiers: NotificationSniffer

  init(_ signedPayload: String) {
    self.signedPayload = signedPayload
    identifiers = NotificationSniffer(signedPayload: signedPayload)
  }

  /// Queues the notification, unless a copy was verified before.
  ///
  /// - Parameters:
  ///   - bundleId: the app whose key fetched the notification.
  ///   - attributes: name the recovery or the gap for which it was fetched.
  ///   - notBefore: milliseconds since 1970; before this time, the notification is stored but not processed.
  func accept(
    _ deliveries: DeliveryQueue, bundleId: String, attributes: [String: String], notBefore: Int64? = nil
  ) async throws(QueueError) -> AcceptResult {
    if let naturalKey = identifiers.naturalKey,
      try await deliveries.isNaturalKeySeen(naturalKey, orderKey: identifiers.orderKey, long: true)
    {
      return .duplicate(nil)
    }
    // The parts around the JWS in the body that Apple would have posted.
    var whole = OriginalBody.attributes(before: #"{"signedPayload":""#, after: #""}"#, contentType: "application/json")
    whole[SignedDataExpectation.bundleIdAttribute] = bundleId
    let request = AcceptRequest(
      queue: .intake, idempotencyKey: identifiers.idempotencyKey(signedPayload: signedPayload), orderKey: identifiers.orderKey,
      naturalKey: identifiers.naturalKey,
      // A notification that is held back must not delay later ones of its purchase.
      keepsOrder: notBefore == nil,
      message: QueueMessage(
        kind: NotificationMessage.kind, body: Array(signedPayload.utf8), attributes: attributes.merging(whole) { one, _ in one },
        receivedAt: WallClock.now(), source: QueueMessage.recoverySource),
      notBefore: notBefore)
    return switch try await deliveries.accept(request) {
    case .accepted(let id): .accepted(id)
    case .duplicate(let id): .duplicate(id)
    }
  }
}
