// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Decides which message the App Store shows a subscriber who may be about to cancel. You implement this service and ingest calls it; none of the
/// five services serves it. If the answer is late, an error, or names a message that Apple has not approved, the configured rules decide.
public struct RetentionDecisionServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Decides one request of the App Store. A repeated call with the same request_identifier must get the same answer.
  public func decideRetention(_ request: DecideRetentionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> DecideRetentionResponse
  {
    try await rpc.call(RetentionDecisionService.DecideRetention.self, request, options)
  }
}
