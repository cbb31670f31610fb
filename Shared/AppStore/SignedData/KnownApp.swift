/// A configured app, whose signed data is accepted.
public struct KnownApp: Sendable, Hashable {
  /// The environments of developers' own tools, whose data Apple does not sign.
  public static let unsignedEnvironments: Set<String> = ["Xcode", "LocalTesting"]

  public let bundleId: String
  /// The app's Apple id. Notifications, app transactions and realtime requests of production contain it and are refused without it.
  public let appAppleId: Int64?
  /// The environments from which the app's data is accepted.
  public let environments: Set<String>

  public init(bundleId: String, appAppleId: Int64?, environments: Set<String>) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environments = environments
  }
}
