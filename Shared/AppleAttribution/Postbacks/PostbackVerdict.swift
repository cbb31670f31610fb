import WireJSON

/// The result of verifying a SKAdNetwork postback.
public struct SKAdNetworkVerdict: Sendable {
  public var valid: Bool { reason == nil }
  /// Nil when valid.
  public let reason: PostbackReason?
  /// The field, under Apple's name, when the reason lies in one.
  public let field: String?
  /// The reason in words, for people.
  public let explanation: String?
  /// As far as it could be read; verified only when valid.
  public let version: String?
  /// Which kind of key signed; nil when none did.
  public let environment: PostbackEnvironment?
  /// `apple-p192`, `apple-p256`, or the `kid` of a development key.
  public let keyId: String?
  /// As written; verified only when valid.
  public let transactionId: String?
  /// Verified only if valid. It may be moved out, because a copy of so many fields would cost more than most of its processing.
  public var postback: SKAdNetworkPostback?
  /// Nil unless valid: a forgery must not take a genuine postback's place.
  public let naturalKey: String?
}

/// The result of verifying an AdAttributionKit postback.
public struct AdAttributionKitVerdict: Sendable {
  public var valid: Bool { reason == nil }
  /// Nil when valid.
  public let reason: PostbackReason?
  /// The field, under Apple's name, when the reason lies in one.
  public let field: String?
  /// The reason in words, for people.
  public let explanation: String?
  /// What the `kid` stands for; nil when it is unknown.
  public let environment: PostbackEnvironment?
  /// The `kid`, when it is a known one.
  public let keyId: String?
  /// The postback identifier as written; nil unless the signature is verified.
  public let transactionId: String?
  /// Nil unless the signature is verified and all fields are right.
  public let postback: AdAttributionKitPostback?
  /// Nil unless valid.
  public let naturalKey: String?
}
