public import WireJSON

/// What is to be said of a JWS of the App Store.
public struct SignedDataVerdict: Sendable, Hashable {
  public var valid: Bool
  public var reason: SignedDataReason?
  /// The field that is missing or misused, when the reason is `malformed`.
  public var field: String?
  /// `Production`, `Sandbox`, `Xcode` or `LocalTesting`, once the payload is believed.
  public var environment: String?
  /// Every field with every digit; nil until the signature holds.
  public var payload: JSONObject?
  /// Of a notification.
  public var transactionInfo: JSONObject?
  public var renewalInfo: JSONObject?
  public var appTransactionInfo: JSONObject?

  static func refused(_ reason: SignedDataReason, field: String? = nil) -> SignedDataVerdict {
    SignedDataVerdict(valid: false, reason: reason, field: field)
  }
}

/// What a caller expects; what is nil comes from the configured app that the data names.
public struct SignedDataExpectation: Sendable, Hashable {
  /// The attribute of a queued delivery that names the app whose URL it came to.
  public static let bundleIdAttribute = "expectedBundleId"

  public var bundleId: String?
  public var appAppleId: Int64?
  public var environment: String?
  /// Whether the app must be a configured one also where its bundle id is expected here.
  public var isOfKnownApp: Bool

  public init(bundleId: String? = nil, appAppleId: Int64? = nil, environment: String? = nil, isOfKnownApp: Bool = false) {
    self.isOfKnownApp = isOfKnownApp
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environment = environment
  }
}

/// An app whose data is believed.
public struct KnownApp: Sendable, Hashable {
  /// Those of what a developer's own tools make, which Apple does not sign.
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
