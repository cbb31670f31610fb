/// What filters go by. It is kept beside each event, so that judging one does not read its JSON.
public struct EventAttributes: Sendable, Hashable {
  public var adNetworkId: String?
  public var appAppleId: Int64?
  public var bundleId: String?
  /// In lower case: `production`, `sandbox`, `development`.
  public private(set) var environment: String?

  public init(adNetworkId: String? = nil, appAppleId: Int64? = nil, bundleId: String? = nil, environment: String? = nil) {
    self.adNetworkId = adNetworkId
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.environment = environment?.lowercased()
  }
}
