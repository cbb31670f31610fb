import AttributionProtocol
import WireJSON

/// A method of the contract and its handler, without their types: JSON bytes in, JSON bytes out.
struct RPCEndpoint: Sendable {
  /// How the handler runs.
  enum Call: Sendable {
    /// The method is in the contract but this service has no handler for it.
    case unimplemented
    /// On the connection's event loop, at once (``ImmediateRPCHandler``).
    case immediate(@Sendable ([UInt8], JSONLimits, RPCContext) throws(RPCError) -> [UInt8])
    /// On the connection's event loop, together with other calls (``CoalescingRPCHandler``).
    case coalescing(@Sendable ([UInt8], JSONLimits, RPCContext) throws(RPCError) -> PendingCall)
    /// In a task.
    case suspending(@Sendable ([UInt8], JSONLimits, RPCContext) async throws(RPCError) -> [UInt8])
  }

  /// A call whose work has not been performed yet.
  struct PendingCall: Sendable {
    let work: any CoalescedWork
    /// Makes the response. Must be called once, after the work was performed.
    let response: @Sendable () throws(RPCError) -> [UInt8]

    func performAlone() throws(RPCError) -> [UInt8] {
      [work].performCoalesced()
      return try response()
    }
  }

  let service: String
  let name: String
  /// The name in the callers' `allow` lists, such as `attribution.signer.v1.SignerService/ListSigningKeys`.
  let fullName: String
  /// ``RPCServer`` allows GET only for reads with `getAllowed`, and answers 405 to any other GET.
  let idempotency: IdempotencyClass
  let timeLimit: RPCTimeLimit
  let isBatch: Bool
  /// True if the handler waits for something to happen (``RPCHandler/waits``).
  let waits: Bool
  /// True if the handler only computes, so that running it again does nothing but make another response.
  let isPure: Bool
  let call: Call

  init(handler: some RPCHandler) { self.init(of: handler) }

  init(unimplemented method: any RPCMethod.Type) { self.init(method: method, call: .unimplemented) }

  private init<Handler: RPCHandler>(of handler: Handler) {
    if let immediate = handler as? any ImmediateRPCHandler {
      self.init(method: Handler.Method.self, isPure: true, call: Self.immediate(immediate))
    } else if let coalescing = handler as? any CoalescingRPCHandler {
      self.init(method: Handler.Method.self, isPure: true, call: Self.coalescing(coalescing))
    } else if let batch = handler as? any BatchRPCHandler {
      self.init(
        method: Handler.Method.self, isPure: true,
        call: .suspending { (body, limits, context) throws(RPCError) in try await batch.handle(body, limits, context) })
    } else {
      self.init(
        method: Handler.Method.self, waits: Handler.waits,
        call: .suspending { (body, limits, context) throws(RPCError) in
          try await handler.handle(try Self.request(Handler.Method.self, body, limits), context).json
        })
    }
  }

  private static func immediate<Handler: ImmediateRPCHandler>(_ handler: Handler) -> Call {
    .immediate { (body, limits, context) throws(RPCError) in
      try handler.respond(to: try request(Handler.Method.self, body, limits), context).json
    }
  }

  private static func coalescing<Handler: CoalescingRPCHandler>(_ handler: Handler) -> Call {
    .coalescing { (body, limits, context) throws(RPCError) in
      let call = try handler.begin(try request(Handler.Method.self, body, limits), context)
      return PendingCall(work: call.work) { () throws(RPCError) in try call.response().json }
    }
  }

  private static func request<Method: RPCMethod>(_ method: Method.Type, _ body: [UInt8], _ limits: JSONLimits)
    throws(RPCError) -> Method.Request
  {
    do throws(JSONError) { return try Method.Request(json: body, limits: limits) } catch { throw .invalidArgument(error) }
  }

  private init(method: any RPCMethod.Type, waits: Bool = false, isPure: Bool = false, call: Call) {
    service = method.service
    name = method.name
    fullName = "\(method.service)/\(method.name)"
    idempotency = method.idempotency
    timeLimit = method.timeLimit
    isBatch = method.isBatch
    self.waits = waits
    self.isPure = isPure
    self.call = call
  }
}
