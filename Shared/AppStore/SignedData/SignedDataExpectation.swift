/// The app and environment that the caller expects in signed data. A property that is nil is taken from the configured app that the data
/// names (``KnownApp``).
public struct SignedDataExpectation: Sendable, Hashable {
  /// The name of the message attribute with the bundle id of the app whose URL was called.
  public static let bundleIdAttribute = "expectedBundleId"

  public var bundleId: String?
  public var appAppleId: Int64?
  public var environment: String?
  /// True if the app must be configured. False if, with a ``bundleId``, the data of an app that is not configured is accepted too.
  public var requiresKnownApp: Bool
  /// True if the source of the data shows that it is about the app ``bundleId``, so that data that names no app is accepted.
  public var trustedSource: Bool

  public init(
    bundleId: String? = nil, appAppleId: Int64? = nil, environment: String? = nil, requiresKnownApp: Bool = false,
    trustedSource: Bool = false
  ) {
    self.requiresKnownApp = requiresKnownApp
    self.trustedSource = trustedSource
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environment = environment
  }
}
