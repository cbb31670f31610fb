import WireJSON

/// The attributes of an event that filters compare. They are stored beside its JSON, so that a filter does not parse it.
public struct EventAttributes: Sendable, Hashable {
  /// In lower case.
  public private(set) var adNetworkId: String?
  public var appAppleId: Int64?
  public var bundleId: String?
  /// In lower case: `production`, `sandbox`, `development`.
  public private(set) var environment: String?

  public init(adNetworkId: String? = nil, appAppleId: Int64? = nil, bundleId: String? = nil, environment: String? = nil) {
    self.adNetworkId = adNetworkId?.asciiLowercased
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.environment = environment?.lowercased()
  }
}
