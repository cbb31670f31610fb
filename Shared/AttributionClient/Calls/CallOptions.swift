/// The options of a call.
public struct CallOptions: Sendable {
  /// The time for all attempts together; nil for the method's default. A longer time than the method's maximum is reduced to it.
  public var timeout: Duration?
  /// The idempotency key, by which the server recognizes a repeated call and does not execute it again. If it is nil and the method
  /// requires a key, the client makes a random one.
  public var idempotencyKey: String?
  /// The header `traceparent` (W3C Trace Context) of the calling span.
  public var traceparent: String?
  /// The request id, which the server returns and writes to its log.
  public var requestId: String?

  public init(timeout: Duration? = nil, idempotencyKey: String? = nil, traceparent: String? = nil, requestId: String? = nil) {
    self.timeout = timeout
    self.idempotencyKey = idempotencyKey
    self.traceparent = traceparent
    self.requestId = requestId
  }
}
