/// The health of an endpoint: what its last requests showed. It is stored in Redis, so that the next instance that pushes to the endpoint
/// continues with it. All times are milliseconds since 1970.
public struct EndpointHealth: Sendable, Hashable {
  /// The time at which the endpoint last accepted an event.
  public internal(set) var lastSuccess: Int64?
  /// The time of the first failure after the last success; nil if the last request succeeded.
  public internal(set) var failingSince: Int64?
  /// The error of the last failed request.
  public internal(set) var lastError: String?
  /// The end of the pause that a busy endpoint asked for with `Retry-After`.
  public internal(set) var retryAt: Int64?
  /// ``EndpointSettings/countsFrom`` of the settings under which ``failingSince`` and ``retryAt`` were recorded. ``counted(by:)`` drops the
  /// two if the settings have another value now.
  var period: Int64?

  init() {}
}
