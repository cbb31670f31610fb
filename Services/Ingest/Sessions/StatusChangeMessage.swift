import AppleAttribution
import AttributionProtocol
import AttributionQueue
import WireJSON

/// A change of an install's ATT status, as a message in the queue `sessions`. ``SessionWorker`` publishes its event.
struct StatusChangeMessage: Sendable, Hashable {
  /// The kind of the message.
  static let messageKind = "att-status"

  var bundleId: String
  var installHash: String
  var from: ATTStatus
  var to: ATTStatus
  /// The device's time, milliseconds since 1970.
  var deviceTime: Int64
  /// How the change was reported: `session` or `update`.
  var source: String

  /// The idempotency key: the same change reported twice counts once.
  var key: String { "att-status\u{0}\(installHash)\u{0}\(from.code)\u{0}\(to.code)\u{0}\(deviceTime)" }

  var attributes: [String: String] {
    [
      "bundleId": bundleId, "installHash": installHash, "from": String(from.code), "to": String(to.code),
      "deviceTime": String(deviceTime), "source": source,
    ]
  }

  init(bundleId: String, installHash: String, from: ATTStatus, to: ATTStatus, deviceTime: Int64, source: String) {
    self.bundleId = bundleId
    self.installHash = installHash
    self.from = from
    self.to = to
    self.deviceTime = deviceTime
    self.source = source
  }

  /// Nil if the attributes are damaged.
  init?(attributes: [String: String]) {
    guard let bundleId = attributes["bundleId"], let installHash = attributes["installHash"],
      let from = attributes["from"].flatMap({ Int64($0) }), let to = attributes["to"].flatMap({ Int64($0) }),
      let deviceTime = attributes["deviceTime"].flatMap({ Int64($0) }), let source = attributes["source"]
    else { return nil }
    self.init(
      bundleId: bundleId, installHash: installHash, from: ATTStatus(code: from), to: ATTStatus(code: to), deviceTime: deviceTime,
      source: source)
  }

  /// The event of the change.
  func event(_ delivery: DeliveryID, receivedAt: Int64) -> CloudEvent {
    let data: JSONObject = [
      "deliveryId": .string(delivery.description), "bundleId": .string(bundleId), "installHash": .string(installHash),
      "from": .integer(from.code), "to": .integer(to.code), "consent": .bool(to.isConsent), "source": .string(source),
      "determinedAt": .string(Timestamp(millisecondsSince1970: deviceTime).text),
      "receivedAt": .string(Timestamp(millisecondsSince1970: receivedAt).text),
    ]
    return CloudEvent(
      id: "att-status-" + delivery.description, source: ServiceName.ingest.rawValue, type: .attStatusChanged, subject: bundleId,
      time: Timestamp(millisecondsSince1970: receivedAt), data: data)
  }
}
