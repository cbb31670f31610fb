import AppleAttribution
import AttributionProtocol
import AttributionQueue
import WireJSON

/// What the event of a session reports: where the session was sent, and why. It contains no identifier of the user.
struct SessionRecord: Sendable {
  let lease: LeasedMessage
  let message: SessionMessage
  /// The ATT status with which the session was sent.
  let status: ATTStatus
  let route: ConsentRoute
  let removedNames: [String]
  /// The failed requests with this session.
  var tries = SessionTries()
  /// The host that accepted or refused the session, and its answer.
  var host = ""
  var httpStatus = 0
  /// False if the host refused the session.
  var isDelivered = false
  /// Milliseconds since 1970.
  var sentAt: Int64 = 0

  /// The event. Its id depends only on the delivery, so that it is published once.
  var event: CloudEvent {
    var data: JSONObject = [
      "deliveryId": .string(lease.deliveryID.description), "bundleId": .string(message.bundleId),
      "installHash": .string(message.installHash), "attStatus": .integer(status.code),
      "attStatusAtReceipt": .integer(message.attStatus.code),
      // The status comes from the session itself, or from what is known about its install.
      "statusSource": .string(status == message.attStatus ? "session" : "install"), "consent": .bool(status.isConsent),
      "host": .string(host), "strategy": .string(route.strategy), "isDataResidency": .bool(route.isDataResidency),
      "removedNames": .array(removedNames.map { .string($0) }), "held": .bool(message.heldUntil != nil),
      "delivered": .bool(isDelivered), "httpStatus": .integer(httpStatus), "attempt": .integer(lease.attempt),
      "receivedAt": .string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text),
      "sentAt": .string(Timestamp(millisecondsSince1970: sentAt).text),
    ]
    if !tries.summaries.isEmpty { data["tries"] = tries.json }
    return CloudEvent(
      id: "session-" + lease.deliveryID.description, source: ServiceName.ingest.rawValue, type: .sessionRouted,
      subject: message.bundleId, time: Timestamp(millisecondsSince1970: sentAt), data: data)
  }
}

extension SessionMessage {
  /// The event of a session that no host accepted and that becomes a dead letter. If the session is replayed and fails again, the event has
  /// another id, because the number of its requests is higher.
  func undelivered(_ lease: LeasedMessage, reason: String, tries: SessionTries, at time: Int64) -> CloudEvent {
    let data: JSONObject = [
      "deliveryId": .string(lease.deliveryID.description), "bundleId": .string(bundleId), "installHash": .string(installHash),
      "attStatusAtReceipt": .integer(attStatus.code), "strategy": .string(strategy), "held": .bool(heldUntil != nil),
      "reason": .string(reason), "attempt": .integer(lease.attempt), "tries": tries.json,
      "receivedAt": .string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text),
    ]
    return CloudEvent(
      id: "session-undelivered-\(lease.deliveryID)-\(tries.count)", source: ServiceName.ingest.rawValue, type: .sessionUndelivered,
      subject: bundleId, time: Timestamp(millisecondsSince1970: time), data: data)
  }
}
