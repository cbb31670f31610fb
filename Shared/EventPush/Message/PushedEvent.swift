import AttributionQueue
import RedisClient

/// An event to be posted. One object is shared by all endpoints that want it.
final class PushedEvent: Sendable {
  /// What Apple sent.
  struct Original: Sendable {
    let body: [UInt8]
    /// Empty where none was sent.
    let contentType: String
  }

  let place: EventPlace
  let id: String
  let type: String
  /// A CloudEvent in its JSON format.
  let json: [UInt8]
  let original: Original?
  let attributes: EventAttributes

  init(_ stored: StoredEvent, _ shard: Shard) {
    place = EventPlace(place: stored.place, shard: shard)
    id = stored.id
    type = stored.type
    json = stored.json
    attributes = stored.attributes ?? EventAttributes(describing: stored.json, type: stored.type)
    original = stored.original.map { Original(body: $0.body, contentType: $0.contentType) }
  }

  /// For tests of what does not read a store.
  init(place: EventPlace, id: String, type: String, json: [UInt8], original: Original? = nil) {
    self.place = place
    self.id = id
    self.type = type
    self.json = json
    self.original = original
    attributes = EventAttributes()
  }

  /// Bytes that it takes up.
  var size: Int { json.count + (original?.body.count ?? 0) + 256 }
}
