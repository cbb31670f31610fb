// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Exchanges AdServices tokens for Apple Ads attribution records.
public enum TokenBrokerService {
  /// The full RPC name.
  public static let name = "attribution.asa.v1.TokenBrokerService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    ExchangeToken.self,
    GetExchange.self,
  ]

  /// Exchanges a token. Waits at most wait_milliseconds for the result. If there is none then, the state is pending.
  public enum ExchangeToken: RPCMethod {
    public typealias Request = ExchangeTokenRequest
    public typealias Response = ExchangeTokenResponse
    public static let service = TokenBrokerService.name
    public static let name = "ExchangeToken"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(35000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The state of an exchange.
  public enum GetExchange: RPCMethod {
    public typealias Request = GetExchangeRequest
    public typealias Response = GetExchangeResponse
    public static let service = TokenBrokerService.name
    public static let name = "GetExchange"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
