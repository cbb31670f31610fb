import Cryptography
import Logging
public import RedisClient
import WireJSON

/// A named reader of the feed.
public struct EventSubscription: Sendable, Hashable {
  public let name: String
  /// Event types; all when empty.
  public let types: [String]
  /// `beginning` or `now`.
  public let start: String
  /// Milliseconds since 1970.
  public let createdAt: Int64
  /// Events not yet acknowledged; nil when it was not counted.
  public var backlog: Int64?
  /// Nil when nothing waits or it was not counted.
  public var oldestAgeSeconds: Double?

  var json: [UInt8] {
    JSONValue.object([
      "types": .array(types.map { .string($0) }), "start": .string(start), "createdAt": .integer(createdAt),
    ]).serialized
  }

  init(name: String, types: [String], start: String, createdAt: Int64) {
    self.name = name
    self.types = types
    self.start = start
    self.createdAt = createdAt
  }

  init?(name: String, json: [UInt8]) {
    guard let value = try? JSONValue(parsing: json), let types = value["types"]?.arrayValue,
      let start = value["start"]?.stringValue,
      let createdAt = value["createdAt"]?.int64Value
    else { return nil }
    self.init(name: name, types: types.compactMap(\.stringValue), start: start, createdAt: createdAt)
  }
}

/// An event and what acknowledges it.
public struct FeedEvent: Sendable {
  public let ackId: String
  /// A CloudEvent in its JSON format.
  public let json: [UInt8]
}

/// Why a question to the feed has no answer.
public enum EventFeedError: Error, Sendable, Hashable {
  case unknownSubscription
  /// A subscription of this name exists with other types or another start.
  case differs
  case unavailable(RedisError)
}

/// The event feed: subscriptions are consumer groups on the 256 event streams.
public final class EventFeed: Sendable {
  private let deliveries: DeliveryQueue
  private var redis: RedisClient { deliveries.redis }
  private let logger: Logger
  /// Events of other types that one step passes by: Redis does nothing else meanwhile.
  private static let passedAtOnce: Int64 = 500
  /// Events that one step deletes.
  private static let trimmedAtOnce: Int64 = 500
  /// Shards asked side by side in one round.
  private let stride = 32

  public init(deliveries: DeliveryQueue) {
    self.deliveries = deliveries
    logger = deliveries.logger
  }

  /// Makes a subscription; the same again answers the one there is.
  public func create(name: String, types: [String], start: String) async throws(EventFeedError) -> EventSubscription {
    let wanted = EventSubscription(name: name, types: types.sorted(), start: start, createdAt: DeliveryQueue.now)
    if let existing = try await subscription(name) {
      guard existing.types == wanted.types, existing.start == wanted.start else { throw .differs }
      return existing
    }
    // The groups first: a subscription that can be seen can be pulled.
    for shard in Shard.all {
      let reply = try await allowing([
        "XGROUP", "CREATE", .string(Keys.events(shard)), .string(name), start == "now" ? "$" : "0", "MKSTREAM",
      ])
      if let text = reply.error, !text.hasPrefix("BUSYGROUP") { throw .unavailable(.refused(text)) }
    }
    _ = try await send(["HSETNX", .string(Keys.subscriptions), .string(name), .bytes(wanted.json)])
    guard let made = try await subscription(name) else { throw .unavailable(.unexpectedReply("HSETNX")) }
    guard made.types == wanted.types, made.start == wanted.start else { throw .differs }
    return made
  }

  /// Takes up to `most` events under a lease, waiting for a first one up to `wait`.
  public func pull(_ name: String, most: Int, wait: Duration, lease: Duration) async throws(EventFeedError)
    -> [FeedEvent]
  {
    guard let subscription = try await subscription(name) else { throw .unknownSubscription }
    let until = ContinuousClock.now + wait
    var pause: Duration = .milliseconds(20)
    while true {
      let events = try await sweep(subscription, most: most, lease: lease)
      if !events.isEmpty || ContinuousClock.now + pause > until { return events }
      do { try await Task.sleep(for: pause) } catch { return [] }
      pause = min(pause * 2, .milliseconds(160))
    }
  }

  /// Says that events were dealt with; answers how many of them were waiting for it.
  public func acknowledge(_ name: String, ackIds: [String]) async throws(EventFeedError) -> Int {
    guard try await subscription(name) != nil else { throw .unknownSubscription }
    var byShard: [Shard: [RedisArgument]] = [:]
    for ackId in ackIds {
      let parts = ackId.split(separator: ".", maxSplits: 1)
      guard parts.count == 2, let index = Int(parts[0]), (0..<Shard.count).contains(index), Self.isEntryID(parts[1])
      else { continue }
      byShard[Shard(index), default: []].append(.string(String(parts[1])))
    }
    var acknowledged = 0
    for (shard, ids) in byShard {
      acknowledged += Int(try await send(["XACK", .string(Keys.events(shard)), .string(name)] + ids).integer ?? 0)
    }
    return acknowledged
  }

  /// The event of that id, while it is kept.
  public func event(_ id: String) async throws(EventFeedError) -> [UInt8]? {
    // An event's shard comes from its delivery, which the id does not name: all 256 are asked in one pipelined batch.
    let places = try await onAllShards { shard throws(EventFeedError) in
      try await self.send(["HGET", .string(Keys.eventsIndex(shard)), .string(id)]).string
    }
    for (shard, place) in places {
      guard let place else { continue }
      let reply = try await send(["XRANGE", .string(Keys.events(shard)), .string(place), .string(place)])
      if let json = reply.array?.first?.array?.last?.array?.last?.bytes { return json }
    }
    return nil
  }

  /// All subscriptions, with their backlog.
  public func list() async throws(EventFeedError) -> [EventSubscription] {
    let all = try await send(["HGETALL", .string(Keys.subscriptions)]).array ?? []
    var found: [String: EventSubscription] = [:]
    for index in Swift.stride(from: 0, to: all.count - 1, by: 2) {
      guard let name = all[index].string, let json = all[index + 1].bytes else { continue }
      found[name] = EventSubscription(name: name, json: json)
    }
    guard !found.isEmpty else { return [] }
    let groups = try await onAllShards { shard throws(EventFeedError) in
      (try await self.allowing(["XINFO", "GROUPS", .string(Keys.events(shard))]).array ?? [])
    }
    for (shard, infos) in groups {
      for info in infos {
        let group = Self.fields(info)
        guard let name = group["name"]?.string, var subscription = found[name] else { continue }
        let pending = group["pending"]?.integer ?? 0
        let lag = group["lag"]?.integer ?? 0
        subscription.backlog = (subscription.backlog ?? 0) + pending + lag
        if pending + lag > 0, let oldest = try await oldest(shard, group, pending) {
          let age = Double(DeliveryQueue.now - oldest) / 1000
          subscription.oldestAgeSeconds = max(subscription.oldestAgeSeconds ?? 0, age)
        }
        found[name] = subscription
      }
    }
    return found.values.sorted { $0.name < $1.name }
  }

  /// Ends a subscription; false when there was none.
  public func delete(_ name: String) async throws(EventFeedError) -> Bool {
    let existed = try await send(["HDEL", .string(Keys.subscriptions), .string(name)]).integer == 1
    for shard in Shard.all {
      _ = try await allowing(["XGROUP", "DESTROY", .string(Keys.events(shard)), .string(name)])
    }
    return existed
  }

  /// Deletes events that nobody needs any more, and bodies of rejected deliveries past their time; answers how many events went unacknowledged because the retention had passed.
  public func trim() async throws(EventFeedError) -> Int {
    let now = DeliveryQueue.now
    let configuration = deliveries.configuration
    var lost = 0
    for shard in Shard.all {
      // Step by step, until nothing is left that may go: what comes in faster than one step a minute must go too.
      var deleted = Self.trimmedAtOnce
      while deleted >= Self.trimmedAtOnce, !Task.isCancelled {
        let reply: RedisReply
        do throws(QueueError) {
          reply = try await deliveries.run(
            Scripts.trim, [Keys.events(shard), Keys.eventsIndex(shard)],
            [
              .string("\(now - configuration.acknowledgedEventTTL.milliseconds)-0"),
              .string("\(now - configuration.eventRetention.milliseconds)-0"), .integer(Self.trimmedAtOnce),
            ])
        } catch { throw .unavailable(.unexpectedReply("\(error)")) }
        deleted = reply.array?.first?.integer ?? 0
        lost += Int(reply.array?.last?.integer ?? 0)
      }
      _ = try await send([
        "XTRIM", .string(Keys.rejected(shard)), "MINID", .string("\(now - configuration.rejectedBodyTTL.milliseconds)-0"),
      ])
    }
    if lost > 0 { logger.warning("events passed their retention unacknowledged", metadata: ["count": "\(lost)"]) }
    return lost
  }

  /// Trims from time to time, until cancelled.
  public func runTrimming(every interval: Duration = .seconds(60)) async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: interval) } catch { return }
      _ = try? await trim()
    }
  }

  // MARK: Pieces

  private func sweep(_ subscription: EventSubscription, most: Int, lease: Duration) async throws(EventFeedError)
    -> [FeedEvent]
  {
    var events: [FeedEvent] = []
    // Where a sweep begins differs, so that no shard is always last.
    let start = Int.random(in: 0..<Shard.count)
    var offset = 0
    var foundThisRound = false
    while events.count < most {
      if offset >= Shard.count {
        guard foundThisRound else { break }
        offset = 0
        foundThisRound = false
      }
      let left = most - events.count
      let count = min(stride, left, Shard.count - offset)
      let shards = (offset..<offset + count).map { Shard((start + $0) % Shard.count) }
      offset += count
      let (found, mayHaveMore) = try await pull(subscription, from: shards, each: left / count, lease: lease)
      if !found.isEmpty || mayHaveMore { foundThisRound = true }
      events += found
    }
    return events
  }

  private func pull(_ subscription: EventSubscription, from shards: [Shard], each: Int, lease: Duration)
    async throws(EventFeedError)
    -> (events: [FeedEvent], mayHaveMore: Bool)
  {
    let arguments: [RedisArgument] =
      [.string(subscription.name), .integer(lease.milliseconds), .integer(Int64(each)), .integer(Self.passedAtOnce)]
      + subscription.types.map { .string($0) }
    let answers = try await on(shards) { shard throws(EventFeedError) in
      do throws(QueueError) {
        // An event that was handed out must not be undone by the loss of a host: its delivery would be judged, and handed out, again.
        return try await self.deliveries.run(Scripts.pull, [Keys.events(shard)], arguments, on: self.deliveries.durable)
      } catch {
        if case .unavailable(let reason) = error { throw .unavailable(reason) }
        throw .unavailable(.unexpectedReply("pull"))
      }
    }
    var events: [FeedEvent] = []
    var mayHaveMore = false
    for (shard, reply) in answers {
      if reply.integer == -1 {
        // The group is gone (data was lost or never made whole): what there is counts as new.
        _ = try await allowing([
          "XGROUP", "CREATE", .string(Keys.events(shard)), .string(subscription.name), "0", "MKSTREAM",
        ])
        continue
      }
      if reply.array?.first?.integer == 1 { mayHaveMore = true }
      for item in reply.array?.last?.array ?? [] {
        guard let parts = item.array, parts.count == 2, let id = parts[0].string, let json = parts[1].bytes else {
          continue
        }
        events.append(FeedEvent(ackId: "\(shard.index).\(id)", json: json))
      }
    }
    return (events, mayHaveMore)
  }

  private func oldest(_ shard: Shard, _ group: [String: RedisReply], _ pending: Int64) async throws(EventFeedError)
    -> Int64?
  {
    if pending > 0, let name = group["name"]?.string {
      let first = try await send(["XPENDING", .string(Keys.events(shard)), .string(name)]).array?.dropFirst().first?
        .string
      if let first { return Int64(first.prefix { $0 != "-" }) }
    }
    let last = group["last-delivered-id"]?.string ?? "0-0"
    let next = try await send(["XRANGE", .string(Keys.events(shard)), .string("(" + last), "+", "COUNT", "1"])
    return next.array?.first?.array?.first?.string.flatMap { Int64($0.prefix { $0 != "-" }) }
  }

  private func subscription(_ name: String) async throws(EventFeedError) -> EventSubscription? {
    try await send(["HGET", .string(Keys.subscriptions), .string(name)]).bytes.flatMap {
      EventSubscription(name: name, json: $0)
    }
  }

  private static func isEntryID(_ text: Substring) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { UInt64($0) != nil }
  }

  static func fields(_ reply: RedisReply) -> [String: RedisReply] {
    let words = reply.array ?? []
    var fields: [String: RedisReply] = [:]
    for index in Swift.stride(from: 0, to: words.count - 1, by: 2) {
      fields[words[index].string ?? ""] = words[index + 1]
    }
    return fields
  }

  private func onAllShards<Value: Sendable>(_ ask: @escaping @Sendable (Shard) async throws(EventFeedError) -> Value)
    async throws(EventFeedError) -> [(Shard, Value)]
  {
    try await on(Shard.all, ask)
  }

  /// Asks shards side by side: their commands leave in one batch.
  private func on<Value: Sendable>(
    _ shards: [Shard], _ ask: @escaping @Sendable (Shard) async throws(EventFeedError) -> Value
  )
    async throws(EventFeedError) -> [(Shard, Value)]
  {
    let results = await withTaskGroup(of: (Int, Result<Value, EventFeedError>).self) { group in
      for (index, shard) in shards.enumerated() {
        group.addTask {
          do throws(EventFeedError) { return (index, .success(try await ask(shard))) } catch {
            return (index, .failure(error))
          }
        }
      }
      var all: [(Int, Result<Value, EventFeedError>)] = []
      for await result in group { all.append(result) }
      return all
    }
    var answers: [(Shard, Value)] = []
    for (index, result) in results { answers.append((shards[index], try result.get())) }
    return answers
  }

  private func send(_ words: [RedisArgument]) async throws(EventFeedError) -> RedisReply {
    do throws(RedisError) { return try await redis.send(words) } catch { throw .unavailable(error) }
  }

  private func allowing(_ words: [RedisArgument]) async throws(EventFeedError) -> RedisReply {
    do throws(RedisError) { return try await redis.sendAllowingErrors(words) } catch { throw .unavailable(error) }
  }
}
