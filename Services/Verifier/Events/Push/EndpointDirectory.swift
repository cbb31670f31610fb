import AttributionProtocol
import AttributionQueue
import EventPush
import ServiceRuntime
import Synchronization
import WireJSON

/// Creates, reads and changes push endpoints for the RPCs. An endpoint's settings (`EndpointSettings`) are stored with its subscription,
/// and the pusher of the module EventPush uses them.
struct EndpointDirectory: Sendable {
  let feed: EventFeed
  let settings: PushSettings

  // MARK: Creating

  /// Creates a subscription that is pushed. If the same subscription exists, it is returned. The secret is returned only if the
  /// subscription is new.
  func create(_ requested: EventSubscription, _ endpoint: EndpointSettings) async throws(RPCError) -> (EventSubscription, secret: String?) {
    let types = endpoint.form == .original ? try OriginalTypes.forNewSubscription(requested.types) : requested.types
    func subscription(_ endpoint: EndpointSettings) -> EventSubscription {
      EventSubscription(name: requested.name, types: types, filter: requested.filter, start: requested.start, push: endpoint.json)
    }
    let (feed, name) = (feed, requested.name)
    if let existing = try await EventFeedError.convertingErrors({ () throws(EventFeedError) in try await feed.subscription(name) }) {
      let isSame = existing.hasSameSettings(as: subscription(endpoint)) && Self.settings(existing)?.hasSameRequest(as: endpoint) == true
      guard isSame else { throw EventFeedError.differs.rpcError(subscription: "name", event: "startEventId") }
      return (existing, nil)
    }
    try await checkCount()
    return try await EventFeedError.convertingErrors(event: "startEventId") { () throws(EventFeedError) in
      var endpoint = endpoint
      if endpoint.form == .original { endpoint.originals = try await feed.keepOriginals(for: name) }
      let created: EventSubscription
      do throws(EventFeedError) { created = try await feed.create(subscription(endpoint)) } catch {
        if let request = endpoint.originals { try? await feed.endKeeping(request) }
        throw error
      }
      // Another call may have created the subscription at the same time. Then the request to store original bytes is not used.
      if let request = endpoint.originals, Self.settings(created)?.originals != request { try await feed.endKeeping(request) }
      guard let known = Self.settings(created), known.hasSameRequest(as: endpoint) else { throw .differs }
      return (created, secret: known.secrets == endpoint.secrets ? endpoint.secrets.first?.secret.text : nil)
    }
  }

  /// Throws if there may be no further endpoint.
  private func checkCount() async throws(RPCError) {
    let feed = feed
    let all = try await EventFeedError.convertingErrors { () throws(EventFeedError) in try await feed.subscriptions() }
    guard all.count(where: { $0.push != nil }) < settings.endpoints else {
      throw RPCError(
        .resourceExhausted, "the number of push endpoints has reached the setting push.endpoints", reason: "PUSH_ENDPOINTS_EXHAUSTED")
    }
  }

  private static func settings(_ subscription: EventSubscription) -> EndpointSettings? {
    subscription.push.flatMap { EndpointSettings(json: $0) }
  }

  // MARK: Changing

  /// Changes the settings of an endpoint.
  func update(_ name: String, _ message: PushEndpoint, clearing cleared: ClearedFields) async throws(RPCError) -> EventSubscription {
    let (subscription, before) = try await pushed(name)
    let after = try updatedSettings(before, message)
    if after.form == .original { try OriginalTypes.check(subscription.types) }
    let (feed, now) = (feed, WallClock.now())
    return try await EventFeedError.convertingErrors { () throws(EventFeedError) in
      // The storing of original bytes begins before the endpoint's settings need them.
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
        let current = settings.originals
        settings.originals = settings.form == .original ? current ?? request : nil
        ended.withLock { $0 = settings.originals == current ? nil : current }
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
    return try await EventFeedError.convertingErrors { () throws(EventFeedError) in
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

  /// Adds a new secret, or removes the older ones, or both. A third secret is refused, because the endpoint may not know the second one
  /// yet. It would refuse all requests if the first one no longer signed them.
  func rotate(_ name: String, makesSecret: Bool, endsOlder: Bool) async throws(RPCError) -> (EventSubscription, secret: String?) {
    _ = try await pushed(name)
    let (feed, secret, now) = (feed, WebhookSecret.make(), WallClock.now())
    let changed = try await EventFeedError.convertingErrors { () throws(EventFeedError) in
      try await feed.setPush(name) { json in
        guard var settings = EndpointSettings(json: json) else { return json }
        guard !makesSecret || endsOlder || settings.secrets.count < 2 else { return json }
        if makesSecret { settings.add(secret, now: now) }
        if endsOlder { settings.endOlderSecrets() }
        return settings.json
      }
    }
    guard makesSecret else { return (changed, nil) }
    guard Self.settings(changed)?.secrets.first?.secret == secret else {
      throw .failedPrecondition(
        "the endpoint has two secrets already; set endOlder to remove the older one", reason: "ENDPOINT_SECRETS_EXHAUSTED")
    }
    return (changed, secret.text)
  }

  /// A pushed subscription and its endpoint's settings. Throws if the subscription is pulled.
  private func pushed(_ name: String) async throws(RPCError) -> (EventSubscription, EndpointSettings) {
    let feed = feed
    return try await EventFeedError.convertingErrors { () throws(EventFeedError) in
      guard let subscription = try await feed.subscription(name) else { throw .unknownSubscription }
      guard let settings = Self.settings(subscription) else { throw .isPulled }
      return (subscription, settings)
    }
  }

  // MARK: Messages

  /// The message that describes a subscription, with its endpoint and the endpoint's health.
  func message(_ subscription: EventSubscription) async throws(RPCError) -> Subscription {
    guard subscription.push != nil else { return Subscription(subscription) }
    let (feed, name) = (feed, subscription.name)
    let health = try await EventFeedError.convertingErrors { () throws(EventFeedError) in try await feed.endpointHealth(name) }
    return Subscription(subscription, health: health)
  }

  /// The messages that describe several subscriptions.
  func messages(_ subscriptions: [EventSubscription]) async throws(RPCError) -> [Subscription] {
    let feed = feed
    let health =
      subscriptions.contains { $0.push != nil }
      ? try await EventFeedError.convertingErrors { () throws(EventFeedError) in try await feed.endpointHealth() } : [:]
    return subscriptions.map { Subscription($0, health: health[$0.name]) }
  }
}
