public import WireJSON

/// The verdict on a JWS of the App Store.
public struct SignedDataVerdict: Sendable, Hashable {
  public var valid: Bool
  public var reason: SignedDataReason?
  /// The missing or invalid field, if the reason is `malformed`.
  public var field: String?
  /// `Production`, `Sandbox`, `Xcode` or `LocalTesting`, once the payload is accepted.
  public var environment: String?
  /// The payload without loss of digits; nil until the signature is verified.
  public var payload: JSONObject?
  /// The transaction in a notification.
  public var transactionInfo: JSONObject?
  public var renewalInfo: JSONObject?
  public var appTransactionInfo: JSONObject?

  static func refused(_ reason: SignedDataReason, field: String? = nil) -> SignedDataVerdict {
    SignedDataVerdict(valid: false, reason: reason, field: field)
  }
}

/// The caller's expectations. For nil, those of the configured app that the data names are used.
public struct SignedDataExpectation: Sendable, Hashable {
  /// The attribute of a queued delivery with the app whose URL was called.
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
