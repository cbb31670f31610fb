import Cryptography

/// A secret that signs the requests of one endpoint (Standard Webhooks, "Signature scheme"): `whsec_` and Base64.
public struct WebhookSecret: Sendable, Hashable {
  private static let prefix = "whsec_"
  /// The sizes that the standard allows, bytes.
  static let sizes = 24...64

  let bytes: [UInt8]

  /// A new secret of 32 random bytes.
  public static func make() -> WebhookSecret { WebhookSecret(bytes: RandomBytes.make(32)) }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Parses the text form; nil if it is invalid.
  public init?(text: String) {
    guard text.hasPrefix(Self.prefix), let bytes = Base64.decode(String(text.dropFirst(Self.prefix.count))),
      Self.sizes.contains(bytes.count)
    else { return nil }
    self.bytes = bytes
  }

  /// The text form, as the endpoint's operator gets it.
  public var text: String { Self.prefix + Base64.encode(bytes) }
}
