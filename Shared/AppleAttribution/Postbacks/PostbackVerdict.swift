import WireJSON

/// The verdict on a SKAdNetwork postback.
public struct SKAdNetworkVerdict: Sendable {
  public var valid: Bool { reason == nil }
  /// Nil if valid.
  public let reason: PostbackReason?
  /// The field, under Apple's name, if the reason is about one.
  public let field: String?
  /// The reason as text, for people.
  public let explanation: String?
  /// The version, as far as it could be read; verified only if valid.
  public let version: String?
  /// The kind of key that signed; nil if none did.
  public let environment: PostbackEnvironment?
  /// `apple-p192`, `apple-p256`, or the `kid` of a development key.
  public let keyId: String?
  /// The transaction id as written; verified only if valid.
  public let transactionId: String?
  /// Verified only if valid. A variable, so that the caller can take it out without a copy, which would cost more than most of the
  /// processing.
  public var postback: SKAdNetworkPostback?
  /// Nil unless valid, because a forged postback must not claim a genuine one's key.
  public let naturalKey: String?
}

/// The verdict on an AdAttributionKit postback.
public struct AdAttributionKitVerdict: Sendable {
  public var valid: Bool { reason == nil }
  /// Nil if valid.
  public let reason: PostbackReason?
  /// The field, under Apple's name, if the reason is about one.
  public let field: String?
  /// The reason as text, for people.
  public let explanation: String?
  /// The environment of the `kid`; nil if it is unknown.
  public let environment: PostbackEnvironment?
  /// The `kid`, if it is known.
  public let keyId: String?
  /// As written; nil unless the signature is verified.
  public let postbackIdentifier: String?
  /// Nil unless the signature is verified and all fields are valid.
  public let postback: AdAttributionKitPostback?
  /// Nil unless valid.
  public let naturalKey: String?
}
