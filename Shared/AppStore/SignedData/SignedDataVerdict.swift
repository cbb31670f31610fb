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
