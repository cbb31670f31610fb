// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Decides what a subscriber who may be about to cancel is shown. You implement it and ingest calls it; none of the five services answers it.
/// An answer that is late, refused, or that names a message that Apple has not approved, is replaced by what the configured rules say.
public enum RetentionDecisionService {
  /// The full RPC name.
  public static let name = "attribution.retention.v1.RetentionDecisionService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    DecideRetention.self
  ]

  /// One decision for one request of the App Store. It may be asked again with the same request_identifier, and then answers the same.
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
