/// The health of an endpoint. It is stored beyond the process.
public struct EndpointHealth: Sendable, Hashable {
  /// The time at which an event was last accepted; milliseconds since 1970, as all times here.
  public internal(set) var lastSuccess: Int64?
  /// The time since which every request failed; nil if the last one succeeded.
  public internal(set) var failingSince: Int64?
  /// The error of the last failed request.
  public internal(set) var lastError: String?
  /// The time before which the endpoint asked not to be posted to.
  public internal(set) var retryAt: Int64?
  /// The period of the failures: ``EndpointSettings/countsFrom`` of the settings at that time.
  var period: Int64?

  init() {}
}
