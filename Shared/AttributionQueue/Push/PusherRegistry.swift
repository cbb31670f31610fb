import RedisClient

/// Assigns endpoints to pushers, which are the instances that push. Each sends a heartbeat every second (push_beat.lua), and each endpoint
/// belongs to one of them.
///
/// An instance that was suspended and resumes may post events that its successor posts too. Events may then be posted twice, but not out of
/// order: an event is posted only after the endpoint has accepted the earlier events of its subject.
public struct PusherRegistry: Sendable {
  /// The reply to a heartbeat.
  public struct Assignment: Sendable {
    /// All live instances.
    public let pushers: [String]
    /// The endpoints of this instance.
    public let own: Set<String>
  }

  private let feed: EventFeed
  /// How long an instance without a heartbeat keeps its endpoints.
  private let timeout: Duration

  public init(feed: EventFeed, timeout: Duration) {
    self.feed = feed
    self.timeout = timeout
  }

  /// Sends a heartbeat, releases endpoints, and takes those of the wanted endpoints that have no live owner.
  public func beat(_ pusher: String, givingBack: [String], wanting: [String]) async throws(EventFeedError) -> Assignment {
    let arguments: [RedisArgument] =
      [.string(pusher), .integer(timeout.milliseconds), .integer(Int64(givingBack.count))]
      + (givingBack + wanting).map { .string($0) }
    let reply = try await feed.run(Scripts.pushBeat, [Keys.pushers, Keys.endpointOwners], arguments)
    guard let parts = reply.array, parts.count == 2 else { throw .unavailable(.unexpectedReply("push_beat")) }
    return Assignment(
      pushers: (parts[0].array ?? []).compactMap(\.string), own: Set((parts[1].array ?? []).compactMap(\.string)))
  }

  /// Removes an instance and frees its endpoints.
  public func leave(_ pusher: String, givingBack: [String]) async throws(EventFeedError) {
    _ = try await beat(pusher, givingBack: givingBack, wanting: [])
    _ = try await feed.send(["ZREM", .string(Keys.pushers), .string(pusher)])
  }
}

extension EventFeed {
  /// The stored health of endpoints by the names of their subscriptions, as the pusher wrote it.
  public func endpointHealth() async throws(EventFeedError) -> [String: [UInt8]] {
    let all = try await send(["HGETALL", .string(Keys.endpointHealth)]).array ?? []
    var found: [String: [UInt8]] = [:]
    for index in stride(from: 0, to: all.count - 1, by: 2) { found[all[index].string ?? ""] = all[index + 1].bytes }
    return found
  }

  /// The stored health of one endpoint.
  public func endpointHealth(_ name: String) async throws(EventFeedError) -> [UInt8]? {
    try await send(["HGET", .string(Keys.endpointHealth), .string(name)]).bytes
  }

  /// Stores the health of an endpoint, unless the subscription was deleted: a newer one with its name has another endpoint.
  public func setEndpointHealth(_ subscription: EventSubscription, _ json: [UInt8]) async throws(EventFeedError) {
    _ = try await run(
      Scripts.health, [Keys.subscriptions, Keys.endpointHealth],
      [.string(subscription.name), .integer(subscription.createdAt), .bytes(json)])
  }
}
