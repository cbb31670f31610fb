import AttributionProtocol
import WireJSON

/// A method without its types: bytes in, bytes out.
struct RPCEndpoint: Sendable {
  let service: String
  let name: String
  let idempotency: IdempotencyClass
  let timeLimit: RPCTimeLimit
  let isBatch: Bool
  let isImmediate: Bool
  /// Nil for a method that is in the contract and not built yet.
  let call: (@Sendable ([UInt8], JSONLimits, RPCContext) async throws(RPCError) -> [UInt8])?

  init(handler: some RPCHandler) { self.init(of: handler) }

  private init<Handler: RPCHandler>(of handler: Handler) {
    self.init(method: Handler.Method.self, isImmediate: Handler.isImmediate) {
      (body, limits, context) throws(RPCError) in
      let request: Handler.Method.Request
      do throws(JSONError) { request = try Handler.Method.Request(json: body, limits: limits) } catch {
        throw .invalidArgument(error)
      }
      return try await handler.handle(request, context).json
    }
  }

  init(unbuilt method: any RPCMethod.Type) { self.init(method: method, isImmediate: true, call: nil) }

  private init(
    method: any RPCMethod.Type, isImmediate: Bool,
    call: (@Sendable ([UInt8], JSONLimits, RPCContext) async throws(RPCError) -> [UInt8])?
  ) {
    service = method.service
    name = method.name
    idempotency = method.idempotency
    timeLimit = method.timeLimit
    isBatch = method.isBatch
    self.isImmediate = isImmediate
    self.call = call
  }
}
