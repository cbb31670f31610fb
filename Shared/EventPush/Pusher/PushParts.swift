import AttributionQueue
import HTTPClient
import Logging
import ServiceRuntime
import Traces

/// The dependencies that all endpoints of an instance share.
struct PushParts: Sendable {
  let feed: EventFeed
  let poster: PostLoops
  let tails: FeedTailReader
  let settings: PushSettings
  let names: AppNames
  let metrics: PushMetrics
  let tracer: Tracer
  let logger: Logger

  /// The rules for posting to an endpoint.
  func rules(of endpoint: EndpointSettings) -> EndpointRules {
    var rules = EndpointRules()
    rules.isOrdered = endpoint.isOrdered
    rules.maxConcurrent = endpoint.maxConcurrent ?? EndpointSettings.defaultConcurrency
    rules.maxPerSecond = endpoint.maxPerSecond
    rules.retries = RetrySchedule(base: settings.retryBase.milliseconds, cap: settings.retryCap.milliseconds)
    rules.pauses = RetrySchedule(
      base: min(settings.pauseCap, .seconds(1), settings.retryBase).milliseconds, cap: settings.pauseCap.milliseconds)
    rules.retryFor = settings.retryFor.milliseconds
    rules.retryAfterCap = settings.retryAfterCap.milliseconds
    rules.disableAfter = settings.disableAfter.milliseconds
    rules.window = max(settings.window, 2 * rules.maxConcurrent)
    rules.windowBytes = settings.windowBytes
    return rules
  }
}

extension EventSubscription {
  /// True if the subscription selects events by type or by attributes.
  var hasFilter: Bool { !types.isEmpty || !filter.isEmpty }

  /// True if both are the same subscription with the same types, filter and generation, so that their progress is the same.
  func sharesProgress(with other: EventSubscription) -> Bool {
    name == other.name && types == other.types && filter == other.filter && generation == other.generation && createdAt == other.createdAt
  }
}
