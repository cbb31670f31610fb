public import AttributionProtocol

/// A handler of one method.
public protocol RPCHandler<Method>: Sendable {
  associatedtype Method: RPCMethod
  /// True if the handler waits for something to happen, as long as the request says. Its wait is cancelled when the caller closes its sending
  /// side and when the service ends. It then answers with the current state.
  static var waits: Bool { get }
  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response
}

extension RPCHandler {
  public static var waits: Bool { false }
}

/// A handler whose work is pure computation of microseconds. It runs on the connection's event loop, without a task. A call
/// whose deadline has passed before is refused.
public protocol ImmediateRPCHandler<Method>: RPCHandler {
  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response
}

extension ImmediateRPCHandler {
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try respond(to: request, context)
  }
}
