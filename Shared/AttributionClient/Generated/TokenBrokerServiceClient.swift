// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Exchanges AdServices tokens for Apple Ads attribution records.
public struct TokenBrokerServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Exchanges a token. Waits at most wait_milliseconds for the result. If there is none then, the state is pending.
  public func exchangeToken(_ request: ExchangeTokenRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ExchangeTokenResponse
  {
    try await rpc.call(TokenBrokerService.ExchangeToken.self, request, options)
  }

  /// The state of an exchange.
  public func getExchange(_ request: GetExchangeRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> GetExchangeResponse
  {
    try await rpc.call(TokenBrokerService.GetExchange.self, request, options)
  }
}
