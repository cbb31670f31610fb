import AttributionQueue
import RedisClient
import Traces

#if canImport(Glibc)
  import Glibc
#endif

/// An event to post. All endpoints that want it share one object.
final class PushedEvent: Sendable {
  /// The bytes that Apple sent.
  struct Original: Sendable {
    let body: [UInt8]
    /// Empty if none was sent.
    let contentType: String
  }

  let position: EventPosition
  let id: String
  let type: String
  /// The CloudEvent in its JSON format.
  let json: [UInt8]
  let original: Original?
  let attributes: EventAttributes

  init(_ stored: StoredEvent, _ shard: Shard) {
    position = EventPosition(feedPosition: stored.place, shard: shard)
    id = stored.id
    type = stored.type
    json = stored.json
    attributes = stored.attributes ?? EventAttributes(describing: stored.json, type: stored.type)
    original = stored.original.map { Original(body: $0.body, contentType: $0.contentType) }
  }

  /// For tests without a store.
  init(position: EventPosition, id: String, type: String, json: [UInt8], original: Original? = nil) {
    self.position = position
    self.id = id
    self.type = type
    self.json = json
    self.original = original
    attributes = EventAttributes()
  }

  /// The span of the work that made the event (`data.traceparent`). It is found by text search, without parsing: it is among the first
  /// members of the data, and inside a JSON string its quotation marks would be escaped.
  var traceContext: SpanContext? {
    json.withUnsafeBytes { bytes in
      let (key, width): (StaticString, Int) = ("\"traceparent\":\"", 15)
      let end = min(bytes.count, Self.traceparentWithin) - width - SpanContext.length
      guard end >= 0, let start = bytes.baseAddress else { return nil }
      var at = 0
      while at <= end, let found = memchr(start + at, 0x22, end + 1 - at) {
        at = start.distance(to: UnsafeRawPointer(found))
        if memcmp(found, key.utf8Start, width) == 0 {
          return SpanContext(bytes: UnsafeRawBufferPointer(start: start + at + width, count: SpanContext.length))
        }
        at += 1
      }
      return nil
    }
  }

  private static let traceparentWithin = 2048

  /// The approximate size in memory, bytes.
  var size: Int { json.count + (original?.body.count ?? 0) + 256 }
}
