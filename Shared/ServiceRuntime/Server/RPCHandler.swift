public import AttributionProtocol
public import Logging

/// What is known of a call beside its message.
public final class RPCContext: Sendable {
  /// The authenticated caller's name.
  public let caller: String
  public let requestId: String
  let trace: TraceContext
  public let idempotencyKey: String?
  /// When the caller stops waiting.
  public let deadline: ContinuousClock.Instant
  let server: RPCServer

  init(
    caller: String, requestId: String, trace: TraceContext, idempotencyKey: String?, deadline: ContinuousClock.Instant,
    server: RPCServer
  ) {
    self.caller = caller
    self.requestId = requestId
    self.trace = trace
    self.idempotencyKey = idempotencyKey
    self.deadline = deadline
    self.server = server
  }

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
