/// What the caller expects of signed data. For a property that is nil, the value of the configured app that the data names is used.
public struct SignedDataExpectation: Sendable, Hashable {
  /// The attribute of a queued delivery that names the app whose URL was called.
  public static let bundleIdAttribute = "expectedBundleId"

  public var bundleId: String?
  public var appAppleId: Int64?
  public var environment: String?
  /// True if the app must be configured even if its bundle id is expected here.
  public var isOfKnownApp: Bool

  public init(bundleId: String? = nil, appAppleId: Int64? = nil, environment: String? = nil, isOfKnownApp: Bool = false) {
    self.isOfKnownApp = isOfKnownApp
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environment = environment
  }
}
