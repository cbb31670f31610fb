import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// The common fields of the requests of the six calls.
protocol CommerceRequestMessage: RPCMessage {
  var bundleId: String? { get }
  var environment: String? { get }
  var transactionId: String? { get }
  var request: JSONObject? { get }
}

/// Apple's response to one of the six calls.
protocol CommerceResponseMessage: AppleResponse {
  var repeated: Bool? { get set }
}

extension CommerceResponseMessage {
  init(_ outcome: CommerceCalls.Outcome) {
    self.init(outcome.response)
    if outcome.isRepeated { repeated = true }
  }
}

extension CommerceCalls {
  func respond<Response: CommerceResponseMessage>(
    _ operation: AdvancedCommerceRequest.Operation, _ request: some CommerceRequestMessage, _ context: RPCContext
  ) async throws(RPCError) -> Response {
    Response(
      try await perform(
        operation, bundleId: request.bundleId, environment: request.environment, transactionId: request.transactionId,
        body: request.request,
        context))
  }
}
