public import AttributionClient

/// The services that the console asks beside its own; nil for one whose address is not configured.
public struct ConsoleServices: Sendable {
  public var signer: RPCClient?
  public var recovery: RPCClient?
  /// The apps that are configured, by bundle id: recovery is asked about each.
  public var apps: [String]

  public init(signer: RPCClient?, recovery: RPCClient?, apps: [String] = []) {
    self.signer = signer
    self.recovery = recovery
    self.apps = apps
  }
}
