import Cryptography

/// A token that `AAAttribution.attributionToken()` made on a device (AdServices: attributionToken()).
///
/// A token is opaque. It is sent to Apple byte for byte, except for surrounding white space, and need not be Base64 here, because Apple
/// decides whether it is valid. It gives access to data about a user's ads, so no description, dump or log contains it.
public struct AttributionToken: Sendable, Hashable {
  /// The longest accepted token, bytes.
  static let maxBytes = 4096
  /// The time for which Apple accepts a token after its creation, milliseconds: 24 hours.
  static let lifetimeMilliseconds: Int64 = 24 * 3_600_000

  /// The token as it is sent to Apple.
  public let text: String

  /// Removes surrounding white space. Throws ``FieldError`` if the text is empty, longer than ``maxBytes``, or not printable ASCII.
  public init(validating text: String, field: String = "token") throws(FieldError) {
    var bytes = text.utf8[...]
    while let first = bytes.first, Self.isSpace(first) { bytes = bytes.dropFirst() }
    while let last = bytes.last, Self.isSpace(last) { bytes = bytes.dropLast() }
    guard !bytes.isEmpty else { throw FieldError(field: field, reason: "is empty") }
    guard bytes.count <= Self.maxBytes else {
      throw FieldError(field: field, reason: "is longer than \(Self.maxBytes) bytes")
    }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw FieldError(field: field, reason: "must be printable ASCII without white space inside")
    }
    self.text = String(decoding: bytes, as: UTF8.self)
  }

  /// The token's key: the SHA-256 of ``text`` in hexadecimal. It stands for the token everywhere except in the queue and in the call to
  /// Apple.
  public var key: String { Hex.encode(SHA256Digest.hash(Array(text.utf8))) }

  /// True if the token is standard Base64, as Apple's tokens are.
  public var isBase64: Bool { Base64.decode(text) != nil }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension AttributionToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "token \(key.prefix(8))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
