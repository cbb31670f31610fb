// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Decides which message the App Store shows a subscriber who may be about to cancel. You implement this service and ingest calls it; none of the
/// five services serves it. If the answer is late, an error, or names a message that Apple has not approved, the configured rules decide.
public enum RetentionDecisionService {
  /// The full RPC name.
  public static let name = "attribution.retention.v1.RetentionDecisionService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    DecideRetention.self
  ]

  /// Decides one request of the App Store. A repeated call with the same request_identifier must get the same answer.
  public enum DecideRetention: RPCMethod {
    public typealias Request = DecideRetentionRequest
    public typealias Response = DecideRetentionResponse
    public static let service = RetentionDecisionService.name
    public static let name = "DecideRetention"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(150), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
