/// The rules by which ``EndpointState`` posts to an endpoint. ``PushParts/rules(of:)`` makes them from the settings of the subscription and
/// the section `push` of the configuration.
struct EndpointRules: Sendable, Hashable {
  var isOrdered = false
  var maxConcurrent = 8
  var maxPerSecond: Int?
  /// The waits between the attempts to post one event.
  var retries = RetrySchedule(base: 5_000, cap: 3_600_000)
  /// The pauses between requests to a suspect endpoint (``suspectAfter``).
  var pauses = RetrySchedule(base: 1_000, cap: 60_000)
  /// The time after an event's first failure after which the event is given up, if other events were accepted meanwhile; milliseconds.
  var retryFor: Int64 = 3 * 86_400_000
  /// The time without a success after which a failing endpoint is disabled, milliseconds.
  var disableAfter: Int64 = 3 * 86_400_000
  /// The longest `Retry-After` that is honoured, milliseconds.
  var retryAfterCap: Int64 = 86_400_000
  /// The number of consecutive failures after which the endpoint is suspect: the cause is then the endpoint and not a single event.
  var suspectAfter = 3
  /// The greatest number of events whose bytes are in memory.
  var window = 512
  /// The greatest size of these events, bytes; one event may exceed it.
  var windowBytes = 4 << 20
  /// The greatest number of unsettled events. Most of them wait for a retry, or for an earlier event of their subject, without their bytes
  /// in memory.
  var maxUnsettled = 100_000
  /// The bytes of an event that is due later than after this time are removed from memory, milliseconds.
  var unloadAfter: Int64 = 60_000
}
