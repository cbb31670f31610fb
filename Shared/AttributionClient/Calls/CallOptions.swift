/// What is said of a call beside its message.
public struct CallOptions: Sendable {
  /// How long the caller waits, over all attempts; the method's default where nil, its maximum at the most.
  public var timeout: Duration?
  /// Under which the call is made once, however often it is sent. A keyed method that is given none gets one of its own.
  public var idempotencyKey: String?
  /// W3C's header of the span that calls.
  public var traceparent: String?
  /// Told back in the answer and written in the server's log.
  public var requestId: String?

  public init(timeout: Duration? = nil, idempotencyKey: String? = nil, traceparent: String? = nil, requestId: String? = nil) {
    self.timeout = timeout
    self.idempotencyKey = idempotencyKey
    self.traceparent = traceparent
    self.requestId = requestId
  }
}
