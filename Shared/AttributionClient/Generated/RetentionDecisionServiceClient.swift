// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Decides what a subscriber who may be about to cancel is shown. You implement it and ingest calls it; none of the five services answers it.
/// An answer that is late, refused, or that names a message that Apple has not approved, is replaced by what the configured rules say.
public struct RetentionDecisionServiceClient: Sendable {
  /// What carries the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// One decision for one request of the App Store. It may be asked again with the same request_identifier, and then answers the same.
  public func decideRetention(_ request: DecideRetentionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> DecideRetentionResponse
  {
    try await rpc.call(RetentionDecisionService.DecideRetention.self, request, options)
  }
}
