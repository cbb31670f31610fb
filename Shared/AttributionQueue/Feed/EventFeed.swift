import Logging
import RedisClient

/// The event feed. A pulled subscription is a consumer group on the 256 event streams; a pushed one is a position in each.
public final class EventFeed: Sendable {
  let deliveries: DeliveryQueue
  var redis: RedisClient { deliveries.redis }
  let logger: Logger
  let names: AppNames
  let observe: @Sendable (FeedObservation) -> Void
  /// Creates the event of a notice; nil if notices are not published.
  let notify: (@Sendable (FeedNotice) -> EventRecord)?
  /// Subscriptions that have metrics.
  let known = KnownSubscriptions()
  /// For each pulled subscription, the shards in which a pull would find nothing.
  let quietShards: QuietShards

  /// - Parameters:
  ///   - names: the configured apps.
  ///   - observe: receives observations for metrics.
  ///   - notify: creates the event about a subscription that is close to losing events, or loses them.
  public convenience init(
    deliveries: DeliveryQueue, names: AppNames = AppNames(), observe: @escaping @Sendable (FeedObservation) -> Void = { _ in },
    notify: (@Sendable (FeedNotice) -> EventRecord)? = nil
  ) {
    self.init(deliveries: deliveries, names: names, quietShards: QuietShards(), observe: observe, notify: notify)
  }

  init(
    deliveries: DeliveryQueue, names: AppNames = AppNames(), quietShards: QuietShards,
    observe: @escaping @Sendable (FeedObservation) -> Void = { _ in }, notify: (@Sendable (FeedNotice) -> EventRecord)? = nil
  ) {
    self.deliveries = deliveries
    self.quietShards = quietShards
    self.names = names
    self.observe = observe
    self.notify = notify
    logger = deliveries.logger
  }

  /// The event with that id, if it is still stored.
  public func event(_ id: String) async throws(EventFeedError) -> [UInt8]? {
    guard let (shard, place) = try await place(of: id) else { return nil }
    let reply = try await send(["XRANGE", .string(Keys.events(shard)), .string(place.text), .string(place.text)])
    return Self.fields(reply.array?.first?.array?.last ?? .null)["e"]?.bytes
  }

  /// Publishes an event that no completion of a delivery publishes, such as one about a subscription; false if an event with that id
  /// exists. Of its attributes, only the app is used.
  @discardableResult
  public func publish(_ event: EventRecord) async throws(EventFeedError) -> Bool {
    let shard = Shard(hashing: event.id)
    return try await run(
      Scripts.publish, [Keys.events(shard), Keys.eventsIndex(shard)],
      [.string(event.id), .string(event.type), .bytes(event.json), .string(event.attributes.bundleId ?? "")]
    ).integer == 1
  }

  /// Finds the shard of an event. The id does not name it, so all shards are queried in one pipelined batch.
  func place(of id: String) async throws(EventFeedError) -> (Shard, EntryID)? {
    let places = try await onAllShards { shard throws(EventFeedError) in
      try await self.send(["HGET", .string(Keys.eventsIndex(shard)), .string(id)]).string
    }
    for (shard, place) in places {
      if let entry = place.flatMap({ EntryID($0) }) { return (shard, entry) }
    }
    return nil
  }

  // MARK: Helpers

  static func fields(_ reply: RedisReply) -> [String: RedisReply] {
    let words = reply.array ?? []
    var fields: [String: RedisReply] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) { fields[words[index].string ?? ""] = words[index + 1] }
    return fields
  }

  func onAllShards<Value: Sendable>(_ ask: @escaping @Sendable (Shard) async throws(EventFeedError) -> Value)
    async throws(EventFeedError) -> [(Shard, Value)]
  {
    try await on(Shard.all, ask)
  }

  /// Queries shards concurrently; their commands are pipelined.
  func on<Value: Sendable>(_ shards: [Shard], _ ask: @escaping @Sendable (Shard) async throws(EventFeedError) -> Value)
    async throws(EventFeedError) -> [(Shard, Value)]
  {
    var values: [(Shard, Value)] = []
    for (shard, result) in await results(of: shards, ask) { values.append((shard, try result.get())) }
    return values
  }

  /// Queries shards concurrently. Returns a result for each, so that a failure in one shard does not hide the others' values.
  func results<Value: Sendable>(of shards: [Shard], _ ask: @escaping @Sendable (Shard) async throws(EventFeedError) -> Value)
    async -> [(Shard, Result<Value, EventFeedError>)]
  {
    await withTaskGroup(of: (Int, Result<Value, EventFeedError>).self) { group in
      for (index, shard) in shards.enumerated() {
        group.addTask {
          do throws(EventFeedError) { return (index, .success(try await ask(shard))) } catch {
            return (index, .failure(error))
          }
        }
      }
      var all: [(Int, Result<Value, EventFeedError>)] = []
      for await result in group { all.append(result) }
      return all.map { (shards[$0.0], $0.1) }
    }
  }

  func send(_ words: [RedisArgument]) async throws(EventFeedError) -> RedisReply {
    do throws(RedisError) { return try await redis.send(words) } catch { throw .unavailable(error) }
  }

  /// Sends a command whose error reply is returned as a reply instead of thrown.
  func allowing(_ words: [RedisArgument]) async throws(EventFeedError) -> RedisReply {
    do throws(RedisError) { return try await redis.sendAllowingErrors(words) } catch { throw .unavailable(error) }
  }

  func run(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument], isDurable: Bool = false)
    async throws(EventFeedError) -> RedisReply
  {
    do throws(QueueError) {
      return try await deliveries.run(script, keys, arguments, on: isDurable ? deliveries.durable : nil)
    } catch {
      if case .unavailable(let reason) = error { throw .unavailable(reason) }
      throw .unavailable(.unexpectedReply(script.name))
    }
  }
}
