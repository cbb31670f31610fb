import Foundation
import HTTPClient
import Logging
import RedisClient
import RedisTestSupport
import ServiceRuntime

@testable import AttributionQueue
@testable import EventPush

/// A feed on a Redis for one test, and the parts of an instance that pushes events.
final class FeedServer {
  private let redis: RedisProcess
  private let client: RedisClient
  let feed: EventFeed
  let parts: PushParts

  init() async throws {
    redis = try RedisProcess(["--appendonly", "yes", "--appendfsync", "always"])
    client = try await redis.readyClient()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    feed = EventFeed(deliveries: try await DeliveryQueue.open(redis: client, configuration: QueueConfiguration(), logger: logger))
    parts = PushParts(
      feed: feed, poster: PostLoops(count: 1, configuration: HTTPClientConfiguration()) { _ in false },
      tails: FeedTailReader(feed: feed, logger: logger), settings: PushSettings(), names: AppNames(),
      metrics: PushMetrics(MetricsRegistry()), tracer: .off, logger: logger)
  }

  deinit {
    parts.poster.shutdown()
    client.close()
  }

  /// Publishes an event in a shard, and returns its position.
  func publish(_ id: String, subject: String = "s", shard: Int, json: String? = nil) async throws -> EventPosition {
    let json = json ?? #"{"specversion":"1.0","id":"\#(id)","source":"/v","type":"t","subject":"\#(subject)","data":{}}"#
    let reply = try await feed.send([
      "XADD", .string(Keys.events(Shard(shard))), "*", "i", .string(id), "t", "t", "e", .string(json), "n", "", "p", "", "b", "", "v", "",
    ])
    return EventPosition(feedPosition: FeedPosition(entry: EntryID(reply.string ?? "")!), shard: Shard(shard))
  }

  /// A subscription with an endpoint to which no event was posted yet.
  func endpoint(_ form: PushForm = .structured, isOrdered: Bool = false, adjust: (inout EndpointSettings) -> Void = { _ in })
    async throws -> (EventSubscription, EndpointSettings)
  {
    var settings = EndpointSettings(
      url: "https://example.com/", form: form, isOrdered: isOrdered, maxPerSecond: nil, maxConcurrent: nil, now: 1000)
    adjust(&settings)
    return (try await feed.create(EventSubscription(name: "p", push: settings.json)), settings)
  }
}

extension PushEndpoint {
  /// Reads until no shard has unread events, without posting.
  func readAll() async throws {
    locked.withLock { $0.isPaused = true }
    for _ in 0..<1000 where locked.withLock({ !$0.unreadShards.isEmpty }) { _ = try await catchUp() }
  }

  /// The ids of the events that may be posted now.
  func next() -> [String] { locked.withLock { $0.state.posts(now: WallClock.now()).map(\.id) } }
}
