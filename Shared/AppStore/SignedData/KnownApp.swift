/// An app whose data is accepted.
public struct KnownApp: Sendable, Hashable {
  /// The environments of developers' own tools, whose data Apple does not sign.
  public static let unsignedEnvironments: Set<String> = ["Xcode", "LocalTesting"]

  public let bundleId: String
  public let appAppleId: Int64?
  public let environments: Set<String>

  public init(bundleId: String, appAppleId: Int64?, environments: Set<String>) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environments = environments
  }
}
