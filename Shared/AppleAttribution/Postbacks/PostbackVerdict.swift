import WireJSON

/// The verdict of ``PostbackVerifier`` on a SKAdNetwork postback.
public struct SKAdNetworkVerdict: Sendable {
  public var valid: Bool { reason == nil }
  /// Nil if valid.
  public let reason: PostbackReason?
  /// The field under Apple's name; nil if the reason is not about a field.
  public let field: String?
  /// The reason as text, for people.
  public let explanation: String?
  /// The version, if it could be read. It is verified only if the postback is valid.
  public let version: String?
  /// The environment of the key that signed the postback; nil if no known key did.
  public let environment: PostbackEnvironment?
  /// The key that signed the postback: `apple-p192`, `apple-p256`, or the `kid` of a development key; nil if no known key did.
  public let keyId: String?
  /// The transaction id as written, if it could be read. It is verified only if the postback is valid.
  public let transactionId: String?
  /// The postback, if all of its fields could be read. It is verified only if it is valid. It is a variable, so that the caller can move it
  /// out of the verdict; a copy would cost more than most of the processing.
  public var postback: SKAdNetworkPostback?
  /// The natural key; nil unless the postback is valid, because a forged postback must not claim the key of a genuine one.
  public let naturalKey: String?
}

/// The verdict of ``PostbackVerifier`` on an AdAttributionKit postback.
public struct AdAttributionKitVerdict: Sendable {
  public var valid: Bool { reason == nil }
  /// Nil if valid.
  public let reason: PostbackReason?
  /// The field under Apple's name; nil if the reason is not about a field.
  public let field: String?
  /// The reason as text, for people.
  public let explanation: String?
  /// The environment of the `kid`; nil if the `kid` is unknown.
  public let environment: PostbackEnvironment?
  /// The `kid`, if a key is known for it.
  public let keyId: String?
  /// The postback identifier as written; nil unless the signature is verified.
  public let postbackIdentifier: String?
  /// The postback; nil unless the postback is valid.
  public let postback: AdAttributionKitPostback?
  /// The natural key; nil unless the postback is valid.
  public let naturalKey: String?
}
