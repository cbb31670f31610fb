import AttributionProtocol
import AttributionQueue
import EventPush
import ServiceRuntime
import WireJSON

/// Push endpoints as RPC asks about them: made, looked at, changed.
struct EndpointDirectory: Sendable {
  /// How long after its creation a subscription that is created again in the same words tells its secret again: the first answer may have been
  /// lost.
  private static let toldAgain: Int64 = 600_000

  let feed: EventFeed
  let settings: PushSettings

  // MARK: Making

  /// Makes a subscription that is pushed; the same again answers the one there is. The secret is told with a new one.
  func create(_ wanted: EventSubscription, _ endpoint: EndpointSettings) async throws(RPCError) -> (EventSubscription, secret: String?) {
    var asked = wanted
    if endpoint.form == .original {
      let types = try OriginalTypes.checked(wanted.types, field: "types")
      asked = EventSubscription(name: wanted.name, types: types, filter: wanted.filter, start: wanted.start)
    }
    asked = EventSubscription(name: asked.name, types: asked.types, filter: asked.filter, start: asked.start, push: endpoint.json)
    let (feed, name, subscription) = (feed, asked.name, asked)
    let existing = try await EventFeedError.asking { () throws(EventFeedError) in try await feed.subscription(name) }
    if existing == nil {
      try await checkCount()
      if endpoint.form == .original {
        try await EventFeedError.asking { () throws(EventFeedError) in try await feed.keepOriginals(true, for: name) }
      }
    }
    let made = try await EventFeedError.asking(event: "startEventId") { () throws(EventFeedError) in
      let made = try await feed.create(subscription)
      guard let known = made.push.flatMap({ EndpointSettings(json: $0) }), known.asksForTheSame(as: endpoint) else { throw .differs }
      return made
    }
    return (made, Self.secretToTell(made))
  }

  private func checkCount() async throws(RPCError) {
    let feed = feed
    let all = try await EventFeedError.asking { () throws(EventFeedError) in try await feed.subscriptions() }
    guard all.count(where: { $0.push != nil }) < settings.endpoints else {
      throw RPCError(
        .resourceExhausted, "there are as many push endpoints as push.endpoints allows", reason: "PUSH_ENDPOINTS_EXHAUSTED")
    }
  }

  private static func secretToTell(_ subscription: EventSubscription) -> String? {
    guard let known = subscription.push.flatMap({ EndpointSettings(json: $0) }), known.secrets.count == 1, let first = known.secrets.first,
      first.madeAt <= subscription.createdAt + 60_000, WallClock.now() - first.madeAt < toldAgain
    else { return nil }
    return first.secret.text
  }

  // MARK: Changing

  /// Changes what an endpoint is asked with.
  func update(_ name: String, _ message: PushEndpoint) async throws(RPCError) -> EventSubscription {
    let (subscription, before) = try await pushed(name)
    let after = try changed(before, message)
    if after.form == .original { _ = try OriginalTypes.checked(subscription.types, field: "push.form") }
    let (feed, now) = (feed, WallClock.now())
    return try await EventFeedError.asking { () throws(EventFeedError) in
      // Kept before they are asked for.
      if after.form == .original { try await feed.keepOriginals(true, for: name) }
      let changed = try await feed.setPush(name) { json in
        guard var settings = EndpointSettings(json: json) else { return json }
        if message.url != nil { settings.move(to: after.url, now: now) }
        settings.form = message.form == nil ? settings.form : after.form
        settings.isOrdered = message.ordered ?? settings.isOrdered
        settings.maxPerSecond = message.maxPerSecond.map { Int($0) } ?? settings.maxPerSecond
        settings.maxConcurrent = message.maxConcurrent.map { Int($0) } ?? settings.maxConcurrent
        return settings.json
      }
      if after.form != .original { try await feed.keepOriginals(false, for: name) }
      return changed
    }
  }

  /// Enables an endpoint, and replays from a time where one is given.
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

  /// Makes a new secret unless none is asked for, and ends older ones where that is asked for.
  func rotate(_ name: String, makesOne: Bool, endsOlder: Bool) async throws(RPCError) -> (EventSubscription, secret: String?) {
    _ = try await pushed(name)
    let (feed, secret, now) = (feed, WebhookSecret.make(), WallClock.now())
    let changed = try await EventFeedError.asking { () throws(EventFeedError) in
      try await feed.setPush(name) { json in
        guard var settings = EndpointSettings(json: json) else { return json }
        if makesOne { settings.add(secret, now: now) }
        if endsOlder { settings.endOlderSecrets() }
        return settings.json
      }
    }
    return (changed, makesOne ? secret.text : nil)
  }

  private func pushed(_ name: String) async throws(RPCError) -> (EventSubscription, EndpointSettings) {
    let feed = feed
    return try await EventFeedError.asking { () throws(EventFeedError) in
      guard let subscription = try await feed.subscription(name) else { throw .unknownSubscription }
      guard let settings = subscription.push.flatMap({ EndpointSettings(json: $0) }) else { throw .isPulled }
      return (subscription, settings)
    }
  }

  // MARK: Looking

  /// A subscription as answers show it.
  func message(_ subscription: EventSubscription) async throws(RPCError) -> Subscription {
    guard subscription.push != nil else { return Subscription(subscription) }
    let (feed, name) = (feed, subscription.name)
    let health = try await EventFeedError.asking { () throws(EventFeedError) in try await feed.endpointHealth(name) }
    return Subscription(subscription, health: health)
  }

  /// The same of several.
  func messages(_ subscriptions: [EventSubscription]) async throws(RPCError) -> [Subscription] {
    let feed = feed
    let health =
      subscriptions.contains { $0.push != nil }
      ? try await EventFeedError.asking { () throws(EventFeedError) in try await feed.endpointHealth() } : [:]
    return subscriptions.map { Subscription($0, health: health[$0.name]) }
  }
}
