/// A method of the contract.
public protocol RPCMethod: Sendable {
  associatedtype Request: RPCMessage
  associatedtype Response: RPCMessage
  /// The full service name, such as `attribution.signer.v1.SignerService`.
  static var service: String { get }
  static var name: String { get }
  static var idempotency: IdempotencyClass { get }
  static var timeLimit: RPCTimeLimit { get }
  /// True if the batch limits apply: 16 MiB and 200,000 values.
  static var isBatch: Bool { get }
}

extension RPCMethod {
  /// `/attribution.signer.v1.SignerService/SignSKAdNetworkImpression`.
  public static var path: String { "/\(service)/\(name)" }
}
