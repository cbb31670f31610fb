/// The options of a call.
public struct CallOptions: Sendable {
  /// The time for all attempts together; nil for the method's default. It is limited to the method's maximum.
  public var timeout: Duration?
  /// The idempotency key, under which the call is executed once, however often it is sent. A method that requires a key gets a random one
  /// if this is nil.
  public var idempotencyKey: String?
  /// The W3C header of the calling span.
  public var traceparent: String?
  /// The request id, which is returned in the response and written to the server's log.
  public var requestId: String?

  public init(timeout: Duration? = nil, idempotencyKey: String? = nil, traceparent: String? = nil, requestId: String? = nil) {
    self.timeout = timeout
    self.idempotencyKey = idempotencyKey
    self.traceparent = traceparent
    self.requestId = requestId
  }
}
