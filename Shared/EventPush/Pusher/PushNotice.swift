import AttributionProtocol
import AttributionQueue
import WireJSON

/// Notices about endpoints, published on the feed.
enum PushNotice {
  private static let source = "/verifier"

  /// An endpoint is not posted to any more.
  static func ended(
    _ subscription: String, _ state: EndpointSettings.State, reason: String, health: EndpointHealth, generation: Int, now: Int64
  )
    -> EventRecord
  {
    var data: JSONObject = ["subscription": .string(subscription), "state": .string(state.rawValue), "reason": .string(reason)]
    data["failingSince"] = health.failingSince.map { .string(Timestamp(millisecondsSince1970: $0).text) }
    data["lastError"] = health.lastError.map { .string($0) }
    // The id is the same for every instance that finds this end, so that the event is published once.
    let id = "endpoint-\(state.rawValue):\(subscription):\(generation):\(health.failingSince ?? now)"
    return record(id, .endpointDisabled, data, now)
  }

  /// An event was given up after its retries.
  static func undelivered(_ event: PushedEvent, to subscription: String, attempts: Int, error: String, now: Int64) -> EventRecord {
    record(
      "undelivered:\(subscription):\(event.id)", .eventUndelivered,
      [
        "subscription": .string(subscription), "eventId": .string(event.id), "eventType": .string(event.type),
        "attempts": .integer(attempts), "lastError": .string(error),
      ], now)
  }

  private static func record(_ id: String, _ type: EventType, _ data: JSONObject, _ now: Int64) -> EventRecord {
    EventRecord(
      id: id, type: type.rawValue,
      json: CloudEvent.json(id: id, source: source, type: type, subject: nil, time: Timestamp(millisecondsSince1970: now)) {
        $0.object(data)
      })
  }
}
