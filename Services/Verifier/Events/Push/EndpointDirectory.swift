import AttributionProtocol
import AttributionQueue
import EventPush
import ServiceRuntime
import Synchronization
import WireJSON

/// Creates, reads and changes push endpoints for RPCs.
struct EndpointDirectory: Sendable {
  let feed: EventFeed
  let settings: PushSettings

  // MARK: Making

  /// Creates a subscription that is pushed. If it exists with the same settings, it is returned. The secret is returned only with a new
  /// one.
  func create(_ wanted: EventSubscription, _ endpoint: EndpointSettings) async throws(RPCError) -> (EventSubscription, secret: String?) {
    let types = endpoint.form == .original ? try OriginalTypes.made(wanted.types) : wanted.types
    func subscription(_ endpoint: EndpointSettings) -> EventSubscription {
      EventSubscription(name: wanted.name, types: types, filter: wanted.filter, start: wanted.start, push: endpoint.json)
    }
    let (feed, name) = (feed, wanted.name)
    if let existing = try await EventFeedError.asking({ () throws(EventFeedError) in try await feed.subscription(name) }) {
      let isSame = existing.asksForTheSame(as: subscription(endpoint)) && Self.settings(existing)?.asksForTheSame(as: endpoint) == true
      guard isSame else { throw EventFeedError.differs.rpcError(subscription: "name", event: "startEventId") }
      return (existing, nil)
    }
    try await checkCount()
    return try await EventFeedError.asking(event: "startEventId") { () throws(EventFeedError) in
      var endpoint = endpoint
      if endpoint.form == .original { endpoint.originals = try await feed.keepOriginals(for: name) }
      let made: EventSubscription
      do throws(EventFeedError) { made = try await feed.create(subscription(endpoint)) } catch {
        if let request = endpoint.originals { try? await feed.endKeeping(request) }
        throw error
      }
      // Another call may have created it at the same time.
      if let request = endpoint.originals, Self.settings(made)?.originals != request { try await feed.endKeeping(request) }
      guard let known = Self.settings(made), known.asksForTheSame(as: endpoint) else { throw .differs }
      return (made, secret: known.secrets == endpoint.secrets ? endpoint.secrets.first?.secret.text : nil)
    }
  }

  private func checkCount() async throws(RPCError) {
    let feed = feed
    let all = try await EventFeedError.asking { () throws(EventFeedError) in try await feed.subscriptions() }
    guard all.count(where: { $0.push != nil }) < settings.endpoints else {
      throw RPCError(
        .resourceExhausted, "there are as many push endpoints as push.endpoints allows", reason: "PUSH_ENDPOINTS_EXHAUSTED")
    }
  }

  private static func settings(_ subscription: EventSubscription) -> EndpointSettings? {
    subscription.push.flatMap { EndpointSettings(json: $0) }
  }

  // MARK: Changing

  /// Changes the settings of an endpoint.
  func update(_ name: String, _ message: PushEndpoint, clearing cleared: ClearedFields) async throws(RPCError) -> EventSubscription {
    let (subscription, before) = try await pushed(name)
    let after = try changed(before, message)
    if after.form == .original { try OriginalTypes.check(subscription.types) }
    let (feed, now) = (feed, WallClock.now())
    return try await EventFeedError.asking { () throws(EventFeedError) in
      // Original bytes must be kept before the endpoint asks for them.
      let request = message.form != nil && after.form == .original ? try await feed.keepOriginals(for: name) : nil
      let ended = Mutex<String?>(nil)
      let changed = try await feed.setPush(name) { json in
        guard var settings = EndpointSettings(json: json) else { return json }
        if message.url != nil { settings.move(to: after.url, now: now) }
        settings.form = message.form == nil ? settings.form : after.form
        settings.isOrdered = message.ordered ?? settings.isOrdered
        settings.maxPerSecond = message.maxPerSecond.map { Int($0) } ?? settings.maxPerSecond
        settings.maxConcurrent = message.maxConcurrent.map { Int($0) } ?? settings.maxConcurrent
        cleared.apply(to: &settings)
        let held = settings.originals
        settings.originals = settings.form == .original ? held ?? request : nil
        ended.withLock { $0 = settings.originals == held ? nil : held }
        return settings.json
      }
      if let ended = ended.withLock({ $0 }) { try await feed.endKeeping(ended) }
      if let request, Self.settings(changed)?.originals != request { try await feed.endKeeping(request) }
      return changed
    }
  }

  /// Enables an endpoint, and replays events from a time if one is given.
  func enable(_ name: String, replayFrom time: Int64?) async throws(RPCError) -> EventSubscription {
    _ = try await pushed(name)
    let feed = feed
    return try await EventFeedError.asking { () throws(EventFeedError) in
      if let time { _ = try await feed.seek(name, to: .time(time)) }
      let now = WallClock.now()
      _ = try await feed.setPush(name) { json in
        guard var settings = EndpointSettings(json: json) else { return json }
        settings.enable(now: now)
        return settings.json
      }
      return try await feed.get(name)
    }
  }

  /// Adds a new secret, or removes older ones, or both. A third secret is refused: the endpoint may not know the second one yet, and would
  /// then refuse requests that the first one does not sign.
  func rotate(_ name: String, makesOne: Bool, endsOlder: Bool) async throws(RPCError) -> (EventSubscription, secret: String?) {
    _ = try await pushed(name)
    let (feed, secret, now) = (feed, WebhookSecret.make(), WallClock.now())
    let changed = try await EventFeedError.asking { () throws(EventFeedError) in
      try await feed.setPush(name) { json in
        guard var settings = EndpointSettings(json: json) else { return json }
        guard !makesOne || endsOlder || settings.secrets.count < 2 else { return json }
        if makesOne { settings.add(secret, now: now) }
        if endsOlder { settings.endOlderSecrets() }
        return settings.json
      }
    }
    guard makesOne else { return (changed, nil) }
    guard Self.settings(changed)?.secrets.first?.secret == secret else {
      throw .failedPrecondition("two secrets sign already; endOlder ends the older one", reason: "ENDPOINT_SECRETS_EXHAUSTED")
    }
    return (changed, secret.text)
  }

  private func pushed(_ name: String) async throws(RPCError) -> (EventSubscription, EndpointSettings) {
    let feed = feed
    return try await EventFeedError.asking { () throws(EventFeedError) in
      guard let subscription = try await feed.subscription(name) else { throw .unknownSubscription }
      guard let settings = Self.settings(subscription) else { throw .isPulled }
      return (subscription, settings)
    }
  }

  // MARK: Looking

  /// The message of a subscription.
  func message(_ subscription: EventSubscription) async throws(RPCError) -> Subscription {
    guard subscription.push != nil else { return Subscription(subscription) }
    let (feed, name) = (feed, subscription.name)
    let health = try await EventFeedError.asking { () throws(EventFeedError) in try await feed.endpointHealth(name) }
    return Subscription(subscription, health: health)
  }

  /// The messages of several subscriptions.
  func messages(_ subscriptions: [EventSubscription]) async throws(RPCError) -> [Subscription] {
    let feed = feed
    let health =
      subscriptions.contains { $0.push != nil }
      ? try await EventFeedError.asking { () throws(EventFeedError) in try await feed.endpointHealth() } : [:]
    return subscriptions.map { Subscription($0, health: health[$0.name]) }
  }
}
