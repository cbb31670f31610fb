import AttributionProtocol
import AttributionQueue
import WireJSON

extension FeedNotice {
  /// The event that publishes the notice in the feed.
  var event: EventRecord {
    let data: JSONObject = [
      "subscription": .string(subscription), "reason": .string(reason.rawValue), "backlog": .integer(backlog),
      "oldestUnacknowledgedAt": .string(Timestamp(millisecondsSince1970: time - Int64(oldestAgeSeconds * 1000)).text),
      "droppedBefore": .integer(dropped),
    ]
    let type = kind == .lagging ? EventType.subscriptionLagging : .subscriptionDropped
    let json = CloudEvent.json(
      id: id, source: "/verifier", type: type, subject: nil, time: Timestamp(millisecondsSince1970: time)
    ) { $0.object(data) }
    return EventRecord(id: id, type: type.rawValue, json: json)
  }
}
