public import WireJSON

/// The verdict on a JWS of the App Store.
public struct SignedDataVerdict: Sendable, Hashable {
  public var valid: Bool
  /// Nil if valid.
  public var reason: SignedDataReason?
  /// The missing or invalid field, if the reason is `malformed`.
  public var field: String?
  /// The environment that the data names, usually `Production` or `Sandbox`; nil until the signature is verified.
  public var environment: String?
  /// The payload with all digits of its numbers; nil until the signature is verified, or the data is accepted without one.
  public var payload: JSONObject?
  /// The verified payload of the transaction in a notification.
  public var transactionInfo: JSONObject?
  /// The verified payload of the renewal information in a notification.
  public var renewalInfo: JSONObject?
  /// The verified payload of the app transaction in a notification.
  public var appTransactionInfo: JSONObject?

  static func refused(_ reason: SignedDataReason, field: String? = nil) -> SignedDataVerdict {
    SignedDataVerdict(valid: false, reason: reason, field: field)
  }
}
