public import WireJSON

/// A subscription: a name under which the feed is read, and its settings. Its positions are stored apart, in each shard.
public struct EventSubscription: Sendable, Hashable {
  public let name: String
  /// Event types; all when empty.
  public let types: [String]
  public let filter: FeedFilter
  public let start: FeedStart
  /// True if the events of a subject, in a shard, are leased to one reader at a time.
  public let isOrdered: Bool
  /// Milliseconds since 1970.
  public let createdAt: Int64
  /// The push settings as the module EventPush stores them; nil for a pulled subscription. Of their members, this module reads only
  /// `originals`. A pulled subscription never becomes a pushed one, nor the reverse.
  public internal(set) var push: JSONObject?
  /// A number that grows with each seek. Events that were handed out in an earlier generation cannot be acknowledged. The generation of a
  /// pushed subscription is higher than those that all deleted subscriptions had.
  public internal(set) var generation: Int
  /// Where the generation begins after a seek: with events published at this time or later, milliseconds since 1970. With this time,
  /// another process can complete an interrupted seek of a pushed subscription. In a pulled subscription it is set when the seek is
  /// finished.
  var soughtTime: Int64?
  /// The number of unacknowledged events, including unwanted ones that were not skipped yet; nil if it was not determined.
  public var backlog: Int64?
  /// The age of the oldest unacknowledged event; nil if there is none, or if it was not determined.
  public var oldestAgeSeconds: Double?
  /// The number of lost events; nil if it was not determined.
  public var dropped: Int64?

  public init(
    name: String, types: [String] = [], filter: FeedFilter = FeedFilter(), start: FeedStart = .beginning, isOrdered: Bool = false,
    createdAt: Int64 = 0, push: JSONObject? = nil
  ) {
    self.name = name
    self.types = Set(types).sorted()
    self.filter = filter
    self.start = start
    self.isOrdered = isOrdered
    self.createdAt = createdAt
    self.push = push
    generation = 0
  }

  /// The name of the subscription's request for the bytes that Apple sent (``EventFeed/keepOriginals(for:)``); nil if it has none.
  var originals: String? { push?["originals"]?.stringValue }

  /// True if both subscriptions have the same settings. The settings of a push endpoint are not compared, only whether there is one.
  public func hasSameSettings(as other: EventSubscription) -> Bool {
    types == other.types && filter == other.filter && start == other.start && isOrdered == other.isOrdered
      && (push == nil) == (other.push == nil)
  }

  /// True if the types or the filter exclude some events.
  var isSelective: Bool { !types.isEmpty || !filter.isEmpty }

  /// The stored JSON. Older builds read only `types`, `start` and `createdAt`.
  var json: [UInt8] {
    var object: JSONObject = [
      "types": .array(types.map { .string($0) }), "start": .string(start.name), "createdAt": .integer(createdAt),
    ]
    switch start {
    case .beginning, .now: break
    case .time(let time): object["startTime"] = .integer(time)
    case .event(let id): object["startEventId"] = .string(id)
    }
    if !filter.isEmpty { object["filter"] = .object(filter.json) }
    if isOrdered { object["ordered"] = true }
    if generation > 0 { object["generation"] = .integer(generation) }
    object["soughtTime"] = soughtTime.map { .integer($0) }
    object["push"] = push.map { .object($0) }
    return JSONValue.object(object).serialized
  }

  /// Parses the stored JSON; nil if it is invalid.
  init?(name: String, json: [UInt8]) {
    guard let value = try? JSONValue(parsing: json), let types = value["types"]?.arrayValue, let startName = value["start"]?.stringValue,
      let createdAt = value["createdAt"]?.int64Value
    else { return nil }
    let start: FeedStart
    switch startName {
    case "now": start = .now
    case "time": start = .time(value["startTime"]?.int64Value ?? 0)
    case "event": start = .event(value["startEventId"]?.stringValue ?? "")
    default: start = .beginning
    }
    self.init(
      name: name, types: types.compactMap(\.stringValue), filter: FeedFilter(json: value["filter"]), start: start,
      isOrdered: value["ordered"]?.boolValue ?? false, createdAt: createdAt, push: value["push"]?.objectValue)
    generation = value["generation"]?.int64Value.map { Int($0) } ?? 0
    soughtTime = value["soughtTime"]?.int64Value
  }
}
