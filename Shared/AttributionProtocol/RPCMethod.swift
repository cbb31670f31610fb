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

/// The rule for repeating a call: the option `idempotency` of a method in `options.proto`.
public enum IdempotencyClass: Sendable, Hashable {
  /// The call may be repeated any number of times.
  case read(getAllowed: Bool)
  /// The message itself identifies the call; an `Idempotency-Key` is optional.
  case natural
  /// An `Idempotency-Key` is required.
  case keyed
}

/// The default and the longest time limit of a call.
public struct RPCTimeLimit: Sendable, Hashable {
  public let `default`: Duration
  public let maximum: Duration

  public init(default: Duration, maximum: Duration) {
    self.default = `default`
    self.maximum = maximum
  }
}
