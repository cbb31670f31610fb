import RedisClient

@testable import AttributionQueue

/// An event of a test, in the form of this build or of an older one.
struct TestEvent {
  var id: String
  var type = "t.a"
  var attributes: EventAttributes? = EventAttributes()
  var json: String?
}

extension DeliveryQueue {
  /// Writes events into one shard.
  ///
  /// - Parameter at: the time of publication, milliseconds since 1970; nil for now.
  func write(_ events: [TestEvent], shard: Shard = Shard(7), at time: Int64? = nil) async throws {
    for event in events {
      let attributes = event.attributes
      var words: [RedisArgument] = [
        "XADD", .string(Keys.events(shard)), .string(time.map { "\($0)-*" } ?? "*"), "i", .string(event.id), "t", .string(event.type), "e",
        .string(event.json ?? #"{"id":"\#(event.id)"}"#),
      ]
      if let attributes {
        words += [
          "n", .string(attributes.adNetworkId ?? ""), "p", .string(attributes.appAppleId.map(String.init) ?? ""), "b",
          .string(attributes.bundleId ?? ""), "v", .string(attributes.environment ?? ""),
        ]
      }
      let place = try await send(words).string ?? ""
      _ = try await send(["HSET", .string(Keys.eventsIndex(shard)), .string(event.id), .string(place)])
    }
  }

  func write(_ names: [String], shard: Shard = Shard(7), at time: Int64? = nil) async throws {
    try await write(names.map { TestEvent(id: $0) }, shard: shard, at: time)
  }
}

extension FeedEvent {
  /// The id in the event's JSON.
  var id: String {
    String(decoding: json, as: UTF8.self).split(separator: "\"").dropFirst(3).first.map(String.init) ?? ""
  }
}

extension EventFeed {
  /// Leases the events that a subscription can get immediately.
  func take(_ name: String, limit: Int = 1000, lease: Duration = .seconds(3600)) async throws -> [FeedEvent] {
    try await pull(name, limit: limit, wait: .zero, lease: lease)
  }

  /// Leases events and returns their ids.
  func ids(_ name: String, limit: Int = 1000, lease: Duration = .seconds(3600)) async throws -> [String] {
    try await take(name, limit: limit, lease: lease).map(\.id)
  }

  /// Moves the position of a pushed subscription.
  ///
  /// - Parameter base: the current position as known to the pusher.
  func advance(
    _ subscription: EventSubscription, _ shard: Shard, from base: FeedPosition? = nil, to place: FeedPosition, count: Int,
    unsettled: UnsettledEvents? = nil
  ) async throws -> Bool {
    try await note([PushProgress(shard: shard, position: (place, count, base), unsettled: unsettled)], of: subscription)
  }

  func backlog(_ name: String) async throws -> Int64? { try await get(name).backlog }
}
