public import AttributionProtocol
import WireJSON

/// HTML pages that the internal port serves in addition to RPCs: the console of verifier. The pages for health and metrics are in
/// `AdministrativePaths.swift`.
public protocol InternalPages: Sendable {
  /// Decides about a request to a page; nil for any other path. It is called on the connection's event loop, so it must not block.
  func admission(_ request: IncomingRequest, _ access: PageAccess) -> RequestAdmission?
}

/// What pages may access: a user signs in as a caller of the RPCs, and sees what that caller may query by RPC.
public struct PageAccess: Sendable {
  let server: RPCServer

  /// The currently configured callers.
  public var callers: CallerDirectory { server.callers.current }

  /// The calls of a caller who uses a page.
  public func calls(of caller: CallerDirectory.Caller) -> PageCalls { PageCalls(server: server, caller: caller) }
}

/// The RPCs that a page makes for a caller, with that caller's permissions and rate limits.
public struct PageCalls: Sendable {
  let server: RPCServer
  public let caller: CallerDirectory.Caller
  /// The limits for parsing responses of this process, which may be large.
  private static let responseLimits = JSONLimits(depth: 64, values: 10_000_000)

  /// True if the caller may call the method.
  public func may(_ method: any RPCMethod.Type) -> Bool { caller.may(String(method.path.dropFirst())) }

  /// Throws if the caller may not call the method, or exceeds its rate limit.
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

  /// Calls a method of this service, in this process, for a caller that ``admit(_:)`` has admitted.
  public func call<Method: RPCMethod>(_ method: Method.Type, _ request: Method.Request) async throws(RPCError) -> Method.Response {
    guard let endpoint = server.endpoint(Method.path) else { throw .unimplemented("\(Method.name) is not implemented") }
    let context = RPCContext(
      caller: caller, requestId: RequestID.usable(nil), trace: server.tracer.context(childOf: nil), idempotencyKey: nil,
      deadline: .now + Method.timeLimit.default, server: server)
    let limits = JSONLimits(depth: server.limits.jsonDepth, values: server.limits.batchJSONValues)
    let response: [UInt8] =
      switch endpoint.call {
      case .unimplemented: throw .unimplemented("\(Method.name) is not implemented")
      case .immediate(let call): try call(request.json, limits, context)
      case .coalescing(let call): try call(request.json, limits, context).performAlone()
      case .suspending(let call): try await call(request.json, limits, context)
      }
    do throws(JSONError) { return try Method.Response(json: response, limits: Self.responseLimits) } catch {
      throw RPCError(.internal, "the response of \(Method.name) cannot be read: \(error)")
    }
  }
}
