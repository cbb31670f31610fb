/// A method of the contract. The types that conform are generated, such as `SignerService.SignOffers`; a server has an `RPCHandler` for
/// each, and a client calls it with `RPCClient.call`.
public protocol RPCMethod: Sendable {
  associatedtype Request: RPCMessage
  associatedtype Response: RPCMessage
  /// The full service name, such as `attribution.signer.v1.SignerService`.
  static var service: String { get }
  static var name: String { get }
  static var idempotency: IdempotencyClass { get }
  static var timeLimit: RPCTimeLimit { get }
  /// True if requests may be as large as a batch: `limits.batchBodyBytes` and `limits.batchJSONValues` apply.
  static var isBatch: Bool { get }
}

extension RPCMethod {
  /// The path of the method's URL, such as `/attribution.signer.v1.SignerService/SignSKAdNetworkImpression`.
  public static var path: String { "/\(service)/\(name)" }
}
