/// The rules for posting to an endpoint: the settings of its subscription and of the configuration.
struct EndpointRules: Sendable, Hashable {
  var isOrdered = false
  var maxConcurrent = 8
  var maxPerSecond: Int?
  /// The waits of an event between its attempts.
  var retries = RetrySchedule(base: 5_000, cap: 3_600_000)
  /// The pauses between requests to an endpoint that accepts nothing.
  var pauses = RetrySchedule(base: 1_000, cap: 60_000)
  /// The time after which an event is given up if other events were accepted meanwhile, milliseconds.
  var retryFor: Int64 = 3 * 86_400_000
  /// The time of failure after which an endpoint is disabled, milliseconds.
  var disableAfter: Int64 = 3 * 86_400_000
  /// The longest `Retry-After` that is honoured, milliseconds.
  var retryAfterCap: Int64 = 86_400_000
  /// The number of consecutive failures from which the endpoint, and not a single event, counts as failing.
  var suspectAfter = 3
  /// The greatest number of events in memory.
  var window = 512
  /// The greatest number of bytes of these events; one event may exceed it.
  var windowBytes = 4 << 20
  /// The greatest number of events that wait for a retry, or behind such an event. Their bytes are not in memory.
  var maxWaiting = 100_000
  /// An event that is due later than this is removed from memory, milliseconds.
  var unloadAfter: Int64 = 60_000
}
