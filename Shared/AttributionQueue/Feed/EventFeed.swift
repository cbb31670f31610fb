import Logging
import RedisClient

/// The event feed: an event stream in each of the 256 shards, to which workers append when they settle a message. A pulled subscription is
/// a consumer group on each stream; a pushed one is a position in each.
///
/// Readers create a subscription (`Subscriptions/EventFeed+Subscriptions.swift`), and pull and acknowledge its events
/// (`EventFeed+Pull.swift`). The pusher of the module EventPush reads pushed subscriptions (`Subscriptions/EventFeed+Positions.swift`,
/// `Push`). One task of an instance drops and deletes old events (`EventFeed+Retention.swift`).
///
///     let subscription = try await feed.create(name: "warehouse", types: [], start: .beginning)
///     let events = try await feed.pull(subscription.name, limit: 100, wait: .seconds(20), lease: .seconds(60))
///     _ = try await feed.acknowledge(subscription.name, ackIds: events.map(\.ackId))
public final class EventFeed: Sendable {
  let deliveries: DeliveryQueue
  var redis: RedisClient { deliveries.redis }
  let logger: Logger
  let names: AppNames
  let observe: @Sendable (FeedObservation) -> Void
  /// Creates the event that publishes a notice; nil if notices are not published.
  let notify: (@Sendable (FeedNotice) -> EventRecord)?
  let measured = MeasuredSubscriptions()
  /// The shards in which a pull would find nothing, for each pulled subscription.
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
    guard let (shard, entry) = try await location(ofEvent: id) else { return nil }
    let reply = try await send(["XRANGE", .string(Keys.events(shard)), .string(entry.text), .string(entry.text)])
    return Self.fields(reply.array?.first?.array?.last ?? .null)["e"]?.bytes
  }

  /// Publishes an event that no completion of a delivery publishes, such as one about a subscription; false if an event with that id
  /// exists. Filters see only the bundle id of its attributes.
  @discardableResult
  public func publish(_ event: EventRecord) async throws(EventFeedError) -> Bool {
    let shard = Shard(hashing: event.id)
    return try await run(
      Scripts.publish, [Keys.events(shard), Keys.eventsIndex(shard)],
      [.string(event.id), .string(event.type), .bytes(event.json), .string(event.attributes.bundleId ?? "")]
    ).integer == 1
  }

  /// The shard of an event and its entry there; nil if it is not stored. The id does not name the shard, so all shards are queried, in one
  /// pipelined batch.
  func location(ofEvent id: String) async throws(EventFeedError) -> (Shard, EntryID)? {
    let entries = try await onAllShards { shard throws(EventFeedError) in
      try await self.send(["HGET", .string(Keys.eventsIndex(shard)), .string(id)]).string
    }
    for (shard, text) in entries {
      if let entry = text.flatMap({ EntryID($0) }) { return (shard, entry) }
    }
    return nil
  }

  // MARK: Helpers

  /// A list of names and values in turn, as a dictionary.
  static func fields(_ reply: RedisReply) -> [String: RedisReply] {
    let words = reply.array ?? []
    var fields: [String: RedisReply] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) { fields[words[index].string ?? ""] = words[index + 1] }
    return fields
  }

  func onAllShards<Value: Sendable>(_ query: @escaping @Sendable (Shard) async throws(EventFeedError) -> Value)
    async throws(EventFeedError) -> [(Shard, Value)]
  {
    try await on(Shard.all, query)
  }

  /// Queries shards concurrently; their commands are pipelined.
  func on<Value: Sendable>(_ shards: [Shard], _ query: @escaping @Sendable (Shard) async throws(EventFeedError) -> Value)
    async throws(EventFeedError) -> [(Shard, Value)]
  {
    var values: [(Shard, Value)] = []
    for (shard, result) in await results(of: shards, query) { values.append((shard, try result.get())) }
    return values
  }

  /// Queries shards concurrently. Returns a result for each, so that a failure in one shard does not hide the others' values.
  func results<Value: Sendable>(of shards: [Shard], _ query: @escaping @Sendable (Shard) async throws(EventFeedError) -> Value)
    async -> [(Shard, Result<Value, EventFeedError>)]
  {
    await withTaskGroup(of: (Int, Result<Value, EventFeedError>).self) { group in
      for (index, shard) in shards.enumerated() {
        group.addTask {
          do throws(EventFeedError) { return (index, .success(try await query(shard))) } catch {
            return (index, .failure(error))
          }
        }
      }
      var all: [(Int, Result<Value, EventFeedError>)] = []
      for await result in group { all.append(result) }
      return all.map { (shards[$0.0], $0.1) }
    }
  }

  func send(_ command: [RedisArgument]) async throws(EventFeedError) -> RedisReply {
    do throws(RedisError) { return try await redis.send(command) } catch { throw .unavailable(error) }
  }

  /// Sends a command whose error reply is returned as a reply instead of thrown.
  func sendAllowingErrors(_ command: [RedisArgument]) async throws(EventFeedError) -> RedisReply {
    do throws(RedisError) { return try await redis.sendAllowingErrors(command) } catch { throw .unavailable(error) }
  }

  /// - Parameter isDurable: true if the reply must arrive only when the write is as durable as ``QueueConfiguration/durability`` requires.
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
