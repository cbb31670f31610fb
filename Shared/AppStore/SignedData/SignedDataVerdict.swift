public import WireJSON

/// The verdict on a JWS of the App Store.
public struct SignedDataVerdict: Sendable, Hashable {
  public var valid: Bool
  /// Nil if valid.
  public var reason: SignedDataReason?
  /// The missing or invalid field, if the reason is `malformed`.
  public var field: String?
  /// The environment that the data names, usually `Production` or `Sandbox`, or that the caller expects if it names none; nil until the
  /// signature is verified.
  public var environment: String?
  /// The bundle id of the app that the data is about, even if the data does not contain it; nil until the app is accepted, or if nothing
  /// tells it.
  public var bundleId: String?
  /// The Apple id of the app that the data names; nil until the app is accepted, or if the data names none.
  public var appAppleId: Int64?
  /// For a valid notification: true if this version knows its type and all objects that it is about. Only such a notification may change a
  /// history.
  public var known: Bool?
  /// The payload with all digits of its numbers; nil until the signature is verified, or the data is accepted without one.
  public var payload: JSONObject?
  /// The verified payload of the transaction in a notification.
  public var transactionInfo: JSONObject?
  /// The verified payload of the renewal information in a notification.
  public var renewalInfo: JSONObject?
  /// The verified payload of the app transaction in a notification.
  public var appTransactionInfo: JSONObject?
}
