public import AttributionProtocol
public import Logging
import Traces

/// The context of a call.
public final class RPCContext: Sendable {
  private let authenticated: CallerDirectory.Caller
  public let requestId: String
  /// This call's own span in the caller's trace, or in a new one.
  let trace: SpanContext
  public let idempotencyKey: String?
  /// When the call must have ended: by the caller's time limit, or by the method's if the caller states none or a longer one.
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

  /// True if the caller is also allowed another method: for requests that include what that method does.
  public func mayCall<Method: RPCMethod>(_ method: Method.Type) -> Bool { authenticated.may(String(Method.path.dropFirst())) }

  public var limits: Limits { server.limits }
  public var logger: Logger { server.logger }

  /// The `traceparent` header of this call's span, for calls to other systems.
  public var traceparent: String { trace.traceparent }

  public var remaining: Duration { ContinuousClock.now.duration(to: deadline) }
}
