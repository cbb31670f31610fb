/// The app and environment that the caller expects in signed data. A property that is nil is taken from the configured app that the data
/// names (``KnownApp``). An expected environment is also that of data that names none.
public struct SignedDataExpectation: Sendable, Hashable {
  /// The name of the message attribute with the bundle id of the app whose URL was called, or whose key fetched the data.
  public static let bundleIdAttribute = "expectedBundleId"

  public var bundleId: String?
  public var appAppleId: Int64?
  public var environment: String?
  /// True if the app must be configured. False if, with a ``bundleId``, the data of an app that is not configured is accepted too.
  public var requiresKnownApp: Bool
  /// True if the caller knows from its source that the data is about the app in ``bundleId`` or ``appAppleId``, for example because the
  /// app's key fetched it from Apple. Then data that names no app is accepted. Data that names another app is not.
  public var trustedSource: Bool

  public init(
    bundleId: String? = nil, appAppleId: Int64? = nil, environment: String? = nil, requiresKnownApp: Bool = false,
    trustedSource: Bool = false
  ) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environment = environment
    self.requiresKnownApp = requiresKnownApp
    self.trustedSource = trustedSource
  }
}
