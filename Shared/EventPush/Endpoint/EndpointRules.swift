/// The rules for posting to an endpoint: the settings of its subscription and of the configuration.
struct EndpointRules: Sendable, Hashable {
  var isOrdered = false
  var maxConcurrent = 8
  var maxPerSecond: Int?
  /// The waits of an event after it was refused.
  var retries = RetrySchedule(base: 5_000, cap: 3_600_000)
  /// The pauses of an endpoint that refuses everything.
  var pauses = RetrySchedule(base: 1_000, cap: 60_000)
  /// How long one event is retried while others are accepted, milliseconds.
  var retryFor: Int64 = 3 * 86_400_000
  /// How long an endpoint may fail before it is disabled, milliseconds.
  var disableAfter: Int64 = 3 * 86_400_000
  /// The longest that an endpoint may ask for by `Retry-After`, milliseconds.
  var retryAfterCap: Int64 = 86_400_000
  /// The number of consecutive failures from which the endpoint, and not an event, counts as failing.
  var suspectAfter = 3
  /// Events that are kept in memory at the most.
  var window = 512
  /// Bytes of them, at the most; one event may pass it.
  var windowBytes = 4 << 20
  /// Events that wait for another try, or behind one that does, at the most: without their bytes.
  var mostWaiting = 100_000
  /// An event that is not due for longer is not kept in memory, milliseconds.
  var unloadAfter: Int64 = 60_000
}

/// The health of an endpoint. It is stored beyond the process.
public struct EndpointHealth: Sendable, Hashable {
  /// When an event was taken last; milliseconds since 1970, as all times here.
  public internal(set) var lastSuccess: Int64?
  /// Since when every request failed; nil when the last one did not.
  public internal(set) var failingSince: Int64?
  /// Of the last request that failed.
  public internal(set) var lastError: String?
  /// The endpoint asked not to be posted to before.
  public internal(set) var retryAt: Int64?
  /// The period to which failures belong: ``EndpointSettings/countsFrom`` of the settings under which they were found.
  var period: Int64?

  init() {}
}
