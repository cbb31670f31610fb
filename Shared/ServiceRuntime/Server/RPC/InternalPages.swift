public import AttributionProtocol
import WireJSON

/// The console's HTML pages, which the internal port serves beside the RPCs. Administrative paths are in AdministrativePaths.
public protocol InternalPages: Sendable {
  /// The decision about a request to one of the pages; nil for any other path. Called on the connection's event loop, so it must not block.
  func admission(_ request: IncomingRequest, _ access: PageAccess) -> RequestAdmission?
}

/// Access to pages: a caller of the RPCs may see on pages what that caller may query by RPC.
public struct PageAccess: Sendable {
  let server: RPCServer

  /// The currently configured callers.
  public var callers: CallerDirectory { server.callers.current }

  /// Calls on behalf of a caller who uses a page.
  public func calls(of caller: CallerDirectory.Caller) -> PageCalls { PageCalls(server: server, caller: caller) }
}

/// RPCs that a page makes on behalf of its reader, with the reader's permissions and rate limits.
public struct PageCalls: Sendable {
  let server: RPCServer
  public let caller: CallerDirectory.Caller
  /// Limits for parsing our own responses, which may be large.
  private static let own = JSONLimits(depth: 64, values: 10_000_000)

  /// True if the caller is allowed the method.
  public func may(_ method: any RPCMethod.Type) -> Bool { caller.may(String(method.path.dropFirst())) }

  /// Throws if the caller is not allowed the method, or exceeds its rate.
  public func admit(_ method: any RPCMethod.Type) throws(RPCError) {
    guard may(method) else {
      throw RPCError(.permissionDenied, "this caller may not call \(method.name)", reason: "CALLER_NOT_ALLOWED")
    }
    guard let rate = caller.rate else { return }
    let name = String(method.path.dropFirst())
    if let wait = server.rates.take(.init(caller: caller.name, method: name), rate) {
      server.metrics.rateLimited(method.name)
      throw .rateLimited(wait)
    }
  }

  /// Calls a method of this service without the network.
  public func call<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request) async throws(RPCError) -> Method.Response {
    try admit(method)
    guard let endpoint = server.endpoint(Method.path) else { throw .unimplemented("\(Method.name) is not implemented") }
    let context = RPCContext(
      caller: caller, requestId: RequestID.usable(nil), trace: server.tracer.context(below: nil), idempotencyKey: nil,
      deadline: .now + Method.timeLimit.default, server: server)
    let limits = JSONLimits(depth: server.limits.jsonDepth, values: server.limits.batchJSONValues)
    let response: [UInt8] =
      switch endpoint.call {
      case .unbuilt: throw .unimplemented("\(Method.name) is not implemented")
      case .immediate(let call): try call(request.json, limits, context)
      case .coalescing(let call): try call(request.json, limits, context).performAlone()
      case .suspending(let call): try await call(request.json, limits, context)
      }
    do throws(JSONError) { return try Method.Response(json: response, limits: Self.own) } catch {
      throw RPCError(.internal, "the answer of \(Method.name) cannot be read: \(error)")
    }
  }
}
