import Cryptography

/// A secret that signs the requests of one endpoint (Standard Webhooks, "Signature scheme"): `whsec_` and Base64.
public struct WebhookSecret: Sendable, Hashable {
  private static let prefix = "whsec_"
  /// What the standard allows, in bytes.
  static let sizes = 24...64

  let bytes: [UInt8]

  /// A new secret of 32 random bytes.
  public static func make() -> WebhookSecret { WebhookSecret(bytes: RandomBytes.make(32)) }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a secret as it was told to its endpoint; nil for anything else.
  public init?(text: String) {
    guard text.hasPrefix(Self.prefix), let bytes = Base64.decode(String(text.dropFirst(Self.prefix.count))),
      Self.sizes.contains(bytes.count)
    else { return nil }
    self.bytes = bytes
  }

  /// As the endpoint is told.
  public var text: String { Self.prefix + Base64.encode(bytes) }
}
