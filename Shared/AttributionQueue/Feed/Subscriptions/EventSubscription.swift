public import WireJSON

/// A named reader of the feed.
public struct EventSubscription: Sendable, Hashable {
  public let name: String
  /// Event types; all when empty.
  public let types: [String]
  public let filter: FeedFilter
  public let start: FeedStart
  /// Whether the events of a subject, in a shard, are one reader's at a time.
  public let isOrdered: Bool
  /// Milliseconds since 1970.
  public let createdAt: Int64
  /// How and where it is pushed, as whoever pushes wrote it, but for its `originals`; nil for one that is pulled. A subscription never changes from one to the other.
  public internal(set) var push: JSONObject?
  /// Grows each time that the subscription is set to another place: what was handed out before cannot be acknowledged any more. That of a
  /// pushed one is higher than those of all that had its name before.
  public internal(set) var generation: Int
  /// Where its generation begins, if it was set to another place: events that were published at this time or later, milliseconds since 1970.
  /// By that another one can finish what was interrupted.
  var soughtTime: Int64?
  /// Events not yet acknowledged, those among them that it does not want and has not passed by; nil when it was not counted.
  public var backlog: Int64?
  /// Nil when nothing waits or it was not counted.
  public var oldestAgeSeconds: Double?
  /// Events that it lost; nil when it was not counted.
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

  /// Under which name it asks for the bytes that Apple sent; nil when it does not: ``EventFeed/keepOriginals(for:)``.
  var originals: String? { push?["originals"]?.stringValue }

  /// Whether making the one again would ask for the same: with another push endpoint's settings it is the same subscription still.
  public func asksForTheSame(as other: EventSubscription) -> Bool {
    types == other.types && filter == other.filter && start == other.start && isOrdered == other.isOrdered
      && (push == nil) == (other.push == nil)
  }

  /// Whether there are events that it does not want.
  var isSelective: Bool { !types.isEmpty || !filter.isEmpty }

  /// As it is kept. Builds of before read `types`, `start` and `createdAt` alone.
  var json: [UInt8] {
    var object: JSONObject = [
      "types": .array(types.map { .string($0) }), "start": .string(start.word), "createdAt": .integer(createdAt),
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

  /// Reads that form; nil for anything else.
  init?(name: String, json: [UInt8]) {
    guard let value = try? JSONValue(parsing: json), let types = value["types"]?.arrayValue, let word = value["start"]?.stringValue,
      let createdAt = value["createdAt"]?.int64Value
    else { return nil }
    let start: FeedStart
    switch word {
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
