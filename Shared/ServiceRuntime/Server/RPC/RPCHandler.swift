public import AttributionProtocol

/// A handler of one method.
public protocol RPCHandler<Method>: Sendable {
  associatedtype Method: RPCMethod
  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response
}

/// A handler whose work is pure computation of microseconds. It runs on the connection's event loop, without a task and without a deadline.
public protocol ImmediateRPCHandler<Method>: RPCHandler {
  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response
}

extension ImmediateRPCHandler {
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try respond(to: request, context)
  }
}
