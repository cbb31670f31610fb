import AttributionProtocol
import AttributionQueue
import EventPush

extension Subscription {
  /// The message that describes a subscription, with its endpoint if it is pushed.
  ///
  /// - Parameter health: the endpoint's stored health; nil if none is stored.
  init(_ subscription: EventSubscription, health: [UInt8]?) {
    self.init(subscription)
    guard let settings = subscription.push.flatMap({ EndpointSettings(json: $0) }) else { return }
    push = PushEndpoint(
      url: settings.url, form: settings.form.rawValue, ordered: settings.isOrdered, maxPerSecond: settings.maxPerSecond.map { Int32($0) },
      maxConcurrent: Int32(settings.maxConcurrent ?? EndpointSettings.defaultConcurrency))
    endpointStatus = EndpointStatus(settings, health: health)
  }
}

extension EndpointStatus {
  init(_ settings: EndpointSettings, health json: [UInt8]?) {
    func timestamp(_ time: Int64?) -> Timestamp? { time.map { Timestamp(millisecondsSince1970: $0) } }
    let health = json.map { EndpointHealth(json: $0).counted(by: settings) }
    self.init(
      state: settings.state.rawValue, since: timestamp(settings.since), reason: settings.reason,
      lastSuccess: timestamp(health?.lastSuccess),
      failingSince: timestamp(health?.failingSince), lastError: health?.lastError,
      secretsMadeAt: settings.secrets.compactMap { timestamp($0.madeAt) }, retryAt: timestamp(health?.retryAt))
  }
}
