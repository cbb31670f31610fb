import Cryptography

/// A secret with which the requests to one endpoint are signed (Standard Webhooks, "Signature scheme"). As text it is `whsec_` and Base64.
public struct WebhookSecret: Sendable, Hashable {
  private static let prefix = "whsec_"
  /// The sizes that the standard allows, bytes.
  static let sizes = 24...64

  let bytes: [UInt8]

  /// A new secret of 32 random bytes.
  public static func make() -> WebhookSecret { WebhookSecret(bytes: RandomBytes.make(32)) }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Parses a secret; nil if the prefix, the Base64 or the size is invalid.
  public init?(text: String) {
    guard text.hasPrefix(Self.prefix), let bytes = Base64.decode(String(text.dropFirst(Self.prefix.count))),
      Self.sizes.contains(bytes.count)
    else { return nil }
    self.bytes = bytes
  }

  /// The secret as text, which the operator of the endpoint gets.
  public var text: String { Self.prefix + Base64.encode(bytes) }
}
