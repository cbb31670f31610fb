import Cryptography
import WireJSON

/// A token that `AAAttribution.attributionToken()` made on a device (AdServices: attributionToken()).
///
/// A token is opaque. It is sent to Apple byte for byte, except for what was added to it on its way and has only one reading: surrounding
/// white space, quotation marks, line breaks, and percent-encoding. It need not be Base64 here, because Apple decides whether it is valid.
/// It gives access to data about a user's ads, so no description, dump or log contains it.
public struct AttributionToken: Sendable, Hashable {
  /// The longest accepted token, bytes.
  static let maxBytes = 4096
  /// The time for which Apple accepts a token after its creation, milliseconds: 24 hours.
  static let lifetimeMilliseconds: Int64 = 24 * 3_600_000

  /// The token as it is sent to Apple.
  public let text: String

  /// Repairs the text where only one reading is possible. Throws ``FieldError`` if it is then empty, longer than ``maxBytes``, or not
  /// printable ASCII.
  public init(validating text: String, field: String = "token") throws(FieldError) {
    let repaired = Self.repaired(text)
    let bytes = repaired.utf8
    guard !bytes.isEmpty else { throw FieldError(field: field, reason: "is empty") }
    guard bytes.count <= Self.maxBytes else {
      throw FieldError(field: field, reason: "is longer than \(Self.maxBytes) bytes")
    }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw FieldError(field: field, reason: "must be printable ASCII without white space inside")
    }
    self.text = repaired
  }

  /// The token's key: the SHA-256 of ``text`` in hexadecimal. It stands for the token everywhere except in the queue and in the call to
  /// Apple.
  public var key: String { Hex.encode(SHA256Digest.hash(Array(text.utf8))) }

  /// True if the token is standard Base64, as Apple's tokens are.
  public var isBase64: Bool { Base64.decode(text) != nil }

  /// The text without what was added on its way. A text that is Base64 is never changed.
  private static func repaired(_ text: String) -> String {
    let text = unwrapped(text)
    guard Base64.decode(text) == nil else { return text }
    // Neither `%` nor `\` is a character of Base64.
    for variant in TextVariants(text).variants.dropFirst() {
      let decoded = unwrapped(String(decoding: variant, as: UTF8.self))
      if hasOnlyTokenCharacters(decoded) { return decoded }
    }
    // A decoder of forms writes a blank for `+`.
    let withPluses = text.replacing(" ", with: "+")
    return Base64.decode(withPluses) == nil ? text : withPluses
  }

  /// The text without surrounding white space and quotation marks, and without line breaks. A text in quotation marks may be a JSON string.
  private static func unwrapped(_ text: String) -> String {
    var bytes = Array(text.utf8)[...]
    // Further quotation marks are not from a known sender, and the limit bounds the work.
    for _ in 0..<3 {
      while let first = bytes.first, isSpace(first) { bytes = bytes.dropFirst() }
      while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
      guard bytes.count >= 2, let mark = bytes.first, mark == bytes.last, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else {
        break
      }
      let quoted = Array(bytes)
      bytes = bytes.dropFirst().dropLast()
      if let inner = (try? JSONValue(parsing: quoted))?.stringValue { bytes = Array(inner.utf8)[...] }
    }
    if bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) { bytes = bytes.filter { !isSpace($0) }[...] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// True for the characters of Base64 in both alphabets, with at most two `=` at the end.
  private static func hasOnlyTokenCharacters(_ text: String) -> Bool {
    var bytes = text.utf8[...]
    for _ in 0..<2 where bytes.last == UInt8(ascii: "=") { bytes = bytes.dropLast() }
    return !bytes.isEmpty
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension AttributionToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "token \(key.prefix(8))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
