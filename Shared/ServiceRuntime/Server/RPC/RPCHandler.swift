public import AttributionProtocol

/// A handler of one method. It parses the request, applies one rule, and returns the response; it throws ``RPCError`` to refuse.
///
/// ```swift
/// struct GetEventHandler: RPCHandler {
///   typealias Method = EventsService.GetEvent
///   let feed: EventFeed
///
///   func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response { … }
/// }
/// ```
///
/// `ServiceParts.handlers` lists the handlers of a service. Variants of this protocol: ``ImmediateRPCHandler`` and ``CoalescingRPCHandler``
/// for pure computation of microseconds, ``BatchRPCHandler`` for methods with many items.
public protocol RPCHandler<Method>: Sendable {
  associatedtype Method: RPCMethod
  /// True if the handler waits for something to happen, for a time that the request states. Its task is cancelled when the caller closes
  /// its sending side and when the service ends, and the handler then answers with the current state.
  static var waits: Bool { get }
  /// Answers a call.
  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response
}

extension RPCHandler {
  public static var waits: Bool { false }
}

/// A handler whose work is pure computation of microseconds. It runs on the connection's event loop, without a task, unless the call has an
/// idempotency key.
public protocol ImmediateRPCHandler<Method>: RPCHandler {
  /// Answers a call.
  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response
}

extension ImmediateRPCHandler {
  public func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try respond(to: request, context)
  }
}
