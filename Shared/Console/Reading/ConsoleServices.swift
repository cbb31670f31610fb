public import AttributionClient

/// The other services that the console calls; nil for one whose address is not configured.
public struct ConsoleServices: Sendable {
  public var signer: RPCClient?
  public var recovery: RPCClient?
  /// The bundle ids of the configured apps, because recovery is asked about each.
  public var apps: [String]

  public init(signer: RPCClient?, recovery: RPCClient?, apps: [String] = []) {
    self.signer = signer
    self.recovery = recovery
    self.apps = apps
  }
}
