import RedisClient

/// Who pushes to which endpoint. Instances that push say each second that they are alive; each endpoint has one of them.
///
/// An instance that was stopped and goes on later may post what its successor posts too. That repeats events and never changes their order: an
/// event is posted only after the earlier ones of its subject were taken, by whomever.
public struct PusherRegistry: Sendable {
  /// What an instance is told.
  public struct Standing: Sendable {
    /// All that are alive.
    public let pushers: [String]
    /// Its endpoints.
    public let own: Set<String>
  }

  private let feed: EventFeed
  /// How long an instance that says nothing keeps its endpoints.
  private let timeout: Duration

  public init(feed: EventFeed, timeout: Duration) {
    self.feed = feed
    self.timeout = timeout
  }

  /// Says that an instance is alive, gives endpoints back, and takes others.
  public func beat(_ pusher: String, givingBack: [String], wanting: [String]) async throws(EventFeedError) -> Standing {
    let arguments: [RedisArgument] =
      [.string(pusher), .integer(timeout.milliseconds), .integer(Int64(givingBack.count))]
      + (givingBack + wanting).map { .string($0) }
    let reply = try await feed.run(Scripts.pushBeat, [Keys.pushers, Keys.endpointOwners], arguments)
    guard let parts = reply.array, parts.count == 2 else { throw .unavailable(.unexpectedReply("push_beat")) }
    return Standing(
      pushers: (parts[0].array ?? []).compactMap(\.string), own: Set((parts[1].array ?? []).compactMap(\.string)))
  }

  /// Ends an instance: its endpoints are free.
  public func leave(_ pusher: String, givingBack: [String]) async throws(EventFeedError) {
    _ = try await beat(pusher, givingBack: givingBack, wanting: [])
    _ = try await feed.send(["ZREM", .string(Keys.pushers), .string(pusher)])
  }
}

extension EventFeed {
  /// What is kept of how endpoints do, by the names of their subscriptions, as whoever pushes wrote it.
  public func endpointHealth() async throws(EventFeedError) -> [String: [UInt8]] {
    let all = try await send(["HGETALL", .string(Keys.endpointHealth)]).array ?? []
    var found: [String: [UInt8]] = [:]
    for index in stride(from: 0, to: all.count - 1, by: 2) { found[all[index].string ?? ""] = all[index + 1].bytes }
    return found
  }

  /// The same of one endpoint.
  public func endpointHealth(_ name: String) async throws(EventFeedError) -> [UInt8]? {
    try await send(["HGET", .string(Keys.endpointHealth), .string(name)]).bytes
  }

  /// Keeps it, unless the subscription has ended: one of its name that was made since has an endpoint of its own.
  public func setEndpointHealth(_ subscription: EventSubscription, _ json: [UInt8]) async throws(EventFeedError) {
    _ = try await run(
      Scripts.health, [Keys.subscriptions, Keys.endpointHealth],
      [.string(subscription.name), .integer(subscription.createdAt), .bytes(json)])
  }
}
