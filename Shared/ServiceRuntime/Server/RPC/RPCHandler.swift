public import AttributionProtocol
public import Logging
import Traces

/// What is known of a call beside its message.
public final class RPCContext: Sendable {
  private let authenticated: CallerDirectory.Caller
  public let requestId: String
  /// This call's own span in the caller's trace, or in a new one.
  let trace: SpanContext
  public let idempotencyKey: String?
  /// When the caller stops waiting.
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

  /// Whether the caller is allowed another method too: for requests that do what that method does.
  public func mayCall<Method: RPCMethod>(_ method: Method.Type) -> Bool { authenticated.may(String(Method.path.dropFirst())) }

  public var limits: Limits { server.limits }
  public var logger: Logger { server.logger }

  /// W3C's header of this call's own span, for what the call causes elsewhere.
  public var traceparent: String { trace.traceparent }

  public var remaining: Duration { ContinuousClock.now.duration(to: deadline) }
}

/// Answers one method: it parses, asks one rule, answers.
public protocol RPCHandler<Method>: Sendable {
  associatedtype Method: RPCMethod
  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response
}

/// Answers one method by computing alone, for microseconds: on the connection's event loop, without a task, and its time is
/// not watched.
public protocol ImmediateRPCHandler<Method>: RPCHandler {
  func answer(_ request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response
}

extension ImmediateRPCHandler {
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try answer(request, context)
  }
}
