import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// The common fields of the six RPCs that make a call to the Advanced Commerce API.
protocol CommerceRequestMessage: RPCMessage {
  var bundleId: String? { get }
  var environment: String? { get }
  var transactionId: String? { get }
  var request: JSONObject? { get }
}

/// The response of one of these six RPCs.
protocol CommerceResponseMessage: AppleResponse {
  /// True if an earlier call had executed the request; absent otherwise.
  var repeated: Bool? { get set }
}

extension CommerceResponseMessage {
  init(_ outcome: CommerceCalls.Outcome) {
    self.init(outcome.response)
    if outcome.isRepeated { repeated = true }
  }
}

extension CommerceCalls {
  /// Makes the call that an RPC's request describes, and returns the RPC's response.
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
