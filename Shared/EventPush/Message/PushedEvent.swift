import AttributionQueue
import RedisClient
import Traces

#if canImport(Glibc)
  import Glibc
#endif

/// An event to be posted. All endpoints that want it share one object.
final class PushedEvent: Sendable {
  /// What Apple sent.
  struct Original: Sendable {
    let body: [UInt8]
    /// Empty where none was sent.
    let contentType: String
  }

  let place: EventPosition
  let id: String
  let type: String
  /// A CloudEvent in its JSON format.
  let json: [UInt8]
  let original: Original?
  let attributes: EventAttributes

  init(_ stored: StoredEvent, _ shard: Shard) {
    place = EventPosition(place: stored.place, shard: shard)
    id = stored.id
    type = stored.type
    json = stored.json
    attributes = stored.attributes ?? EventAttributes(describing: stored.json, type: stored.type)
    original = stored.original.map { Original(body: $0.body, contentType: $0.contentType) }
  }

  /// For tests of what does not read a store.
  init(place: EventPosition, id: String, type: String, json: [UInt8], original: Original? = nil) {
    self.place = place
    self.id = id
    self.type = type
    self.json = json
    self.original = original
    attributes = EventAttributes()
  }

  /// The span of the work that made the event (`data.traceparent`), found without reading the whole of it: it stands among the first members
  /// of its data. Inside of a text the quotation marks would be escaped.
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

  /// Bytes that it takes up.
  var size: Int { json.count + (original?.body.count ?? 0) + 256 }
}
