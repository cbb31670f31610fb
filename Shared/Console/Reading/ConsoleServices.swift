public import AttributionClient

/// The other services that the console calls. A service is nil if its URL is not configured.
public struct ConsoleServices: Sendable {
  public var signer: RPCClient?
  public var recovery: RPCClient?
  /// The bundle ids of the configured apps, because `ListGaps` returns the gaps of one app.
  public var apps: [String]

  public init(signer: RPCClient?, recovery: RPCClient?, apps: [String] = []) {
    self.signer = signer
    self.recovery = recovery
    self.apps = apps
  }
}
