import AttributionProtocol
import AttributionQueue
import WireJSON

/// Events about push endpoints, which are published on the feed.
enum PushNotice {
  private static let source = "/verifier"

  /// No more events are posted to an endpoint.
  ///
  /// - Parameter time: milliseconds since 1970. It is part of the event's id, so it must be the same for every instance.
  static func ended(
    _ subscription: String, _ state: EndpointSettings.State, reason: String, health: EndpointHealth, generation: Int, time: Int64
  ) -> EventRecord {
    var data: JSONObject = ["subscription": .string(subscription), "state": .string(state.rawValue), "reason": .string(reason)]
    data["failingSince"] = health.failingSince.map { .string(Timestamp(millisecondsSince1970: $0).text) }
    data["lastError"] = health.lastError.map { .string($0) }
    // Every instance that finds this end makes the same id, and the feed publishes an id only once.
    let id = "endpoint-\(state.rawValue):\(subscription):\(generation):\(health.failingSince ?? time)"
    return record(id, .endpointDisabled, data, time)
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
