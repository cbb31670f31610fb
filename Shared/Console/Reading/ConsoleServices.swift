public import AttributionClient

/// The services that the console asks beside its own; nil for one whose address is not configured.
public struct ConsoleServices: Sendable {
  public var signer: RPCClient?
  public var recovery: RPCClient?

  public init(signer: RPCClient?, recovery: RPCClient?) {
    self.signer = signer
    self.recovery = recovery
  }
}
