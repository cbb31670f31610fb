import AttributionQueue
import RedisClient
import Traces

#if canImport(Glibc)
  import Glibc
#endif

/// An event of the feed that is to be posted. It is a class, so that all endpoints to which it is posted share its bytes.
final class PushedEvent: Sendable {
  /// The bytes that Apple sent.
  struct Original: Sendable {
    let body: [UInt8]
    /// Empty if Apple sent none.
    let contentType: String
  }

  let position: EventPosition
  let id: String
  let type: String
  /// The CloudEvent in its JSON format.
  let json: [UInt8]
  /// Nil if no subscription with the form `original` existed when the event was published, or if the event is not made of Apple's bytes.
  let original: Original?
  /// The values by which subscriptions filter.
  let attributes: EventAttributes

  init(_ stored: StoredEvent, _ shard: Shard) {
    position = EventPosition(feedPosition: stored.position, shard: shard)
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

  /// The span of the work that made the event (`data.traceparent`). It is found by a search for the member's text, which is faster than
  /// parsing. The text cannot occur inside a JSON string, because the quotation marks would be escaped there.
  var traceContext: SpanContext? {
    json.withUnsafeBytes { bytes in
      let (key, width): (StaticString, Int) = ("\"traceparent\":\"", 15)
      let end = min(bytes.count, Self.traceparentSearchBytes) - width - SpanContext.length
      guard end >= 0, let start = bytes.baseAddress else { return nil }
      var offset = 0
      // The search stops at each quotation mark (0x22).
      while offset <= end, let found = memchr(start + offset, 0x22, end + 1 - offset) {
        offset = start.distance(to: UnsafeRawPointer(found))
        if memcmp(found, key.utf8Start, width) == 0 {
          return SpanContext(bytes: UnsafeRawBufferPointer(start: start + offset + width, count: SpanContext.length))
        }
        offset += 1
      }
      return nil
    }
  }

  /// The size of the part of the event that is searched, bytes. `traceparent` is among the first members of the data.
  private static let traceparentSearchBytes = 2048

  /// The approximate size in memory, bytes: the contents, and an estimate for the rest.
  var size: Int { json.count + (original?.body.count ?? 0) + 256 }
}
