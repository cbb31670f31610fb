public import AttributionProtocol
public import Logging
import Traces

/// What a handler knows about a call besides its request.
public final class RPCContext: Sendable {
  private let authenticated: CallerDirectory.Caller
  /// The value of `X-Request-Id`.
  public let requestId: String
  /// This call's span context, in the caller's trace or in a new one.
  let trace: SpanContext
  /// The key in `Idempotency-Key`; nil if there is none, or if the method ignores it.
  public let idempotencyKey: String?
  /// When the call must have ended: after the caller's time limit, or after the method's if the caller states none or a longer one.
  public let deadline: ContinuousClock.Instant
  let server: RPCServer

  init(
    caller: CallerDirectory.Caller, requestId: String, trace: SpanContext, idempotencyKey: String?,
    deadline: ContinuousClock.Instant, server: RPCServer
  ) {
    authenticated = caller
    self.requestId = requestId
    self.trace = trace
    self.idempotencyKey = idempotencyKey
    self.deadline = deadline
    self.server = server
  }

  /// The authenticated caller's name.
  public var caller: String { authenticated.name }

  /// True if the caller may also call another method. It is for requests that ask for something that the other method does.
  public func mayCall<Method: RPCMethod>(_ method: Method.Type) -> Bool { authenticated.may(String(Method.path.dropFirst())) }

  /// The limits of the listener.
  public var limits: Limits { server.limits }
  /// The logger of the service.
  public var logger: Logger { server.logger }

  /// The `traceparent` header for calls to other systems, which makes their spans children of this call's.
  public var traceparent: String { trace.traceparent }

  /// The time until the deadline.
  public var remaining: Duration { ContinuousClock.now.duration(to: deadline) }
}
