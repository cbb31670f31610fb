import AppleAttribution
import AttributionProtocol
import AttributionQueue
import WireJSON

/// The proof of where a session went: its host and why, without any identifier of the user's.
struct SessionRecord: Sendable {
  let lease: LeasedMessage
  let message: SessionMessage
  /// What it left with.
  let status: ATTStatus
  let route: ConsentRoute
  let removedNames: [String]
  var host = ""
  var httpStatus = 0
  var isDelivered = false
  /// Milliseconds since 1970.
  var sentAt: Int64 = 0

  /// The event; the same delivery always makes the same id.
  var event: CloudEvent {
    let data: JSONObject = [
      "deliveryId": .string(lease.deliveryID.description), "bundleId": .string(message.bundleId),
      "installHash": .string(message.installHash), "attStatus": .integer(status.code),
      "attStatusAtReceipt": .integer(message.attStatus.code),
      // What decided: the session's own word, or what is known of its install.
      "statusSource": .string(status == message.attStatus ? "session" : "install"), "consent": .bool(status.isConsent),
      "host": .string(host), "strategy": .string(route.strategy), "isDataResidency": .bool(route.isDataResidency),
      "removedNames": .array(removedNames.map { .string($0) }), "held": .bool(message.heldUntil != nil),
      "delivered": .bool(isDelivered), "httpStatus": .integer(httpStatus), "attempt": .integer(lease.attempt),
      "receivedAt": .string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text),
      "sentAt": .string(Timestamp(millisecondsSince1970: sentAt).text),
    ]
    return CloudEvent(
      id: "session-" + lease.deliveryID.description, source: ServiceName.ingest.rawValue, type: .sessionRouted,
      subject: message.bundleId, time: Timestamp(millisecondsSince1970: sentAt), data: data)
  }
}
