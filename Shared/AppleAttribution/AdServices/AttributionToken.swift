import Cryptography

/// A token that `AAAttribution.attributionToken()` made on a device (AdServices: attributionToken()).
///
/// Opaque. It is sent to Apple byte for byte, only trimmed of white space around it; that it is Base64 is noted and not
/// demanded, because Apple's answer decides. A token stands for a user's ad history: no description, dump or log shows
/// it.
public struct AttributionToken: Sendable, Hashable {
  /// The longest token that is taken, in bytes.
  public static let maximumBytes = 4096
  /// How long Apple answers for a token after its creation, in milliseconds: 24 hours.
  public static let lifetimeMilliseconds: Int64 = 24 * 3_600_000
  /// How far in the future a device's creation time may lie (its clock runs ahead), in milliseconds: 5 minutes.
  public static let clockToleranceMilliseconds: Int64 = 5 * 60_000

  /// The token as it goes to Apple.
  public let text: String

  /// Trims the text. Throws ``FieldError`` when nothing is left, when it is longer than ``maximumBytes``, or when it
  /// holds anything but printable ASCII.
  public init(validating text: String, field: String = "token") throws(FieldError) {
    var bytes = text.utf8[...]
    while let first = bytes.first, Self.isSpace(first) { bytes = bytes.dropFirst() }
    while let last = bytes.last, Self.isSpace(last) { bytes = bytes.dropLast() }
    guard !bytes.isEmpty else { throw FieldError(field: field, reason: "is empty") }
    guard bytes.count <= Self.maximumBytes else {
      throw FieldError(field: field, reason: "is longer than \(Self.maximumBytes) bytes")
    }
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw FieldError(field: field, reason: "must be printable ASCII without white space inside")
    }
    self.text = String(decoding: bytes, as: UTF8.self)
  }

  /// What the token is known by everywhere but in the call to Apple: the hex SHA-256 of the trimmed text.
  public var key: String { Hex.encode(SHA256Digest.hash(Array(text.utf8))) }

  /// Whether it has the form that Apple's tokens have, standard Base64.
  public var isBase64: Bool { Base64.decode(text) != nil }

  /// The creation time to reckon with, in milliseconds since 1970: what the device says, or the time of receipt where
  /// it says nothing. Throws ``FieldError`` when the device's time is more than 24 hours back or 5 minutes ahead; a
  /// time a little ahead counts as now.
  public static func creationTime(
    claimed: Int64?, receivedAt: Int64, field: String = "requestedAt"
  ) throws(FieldError) -> Int64 {
    guard let claimed else { return receivedAt }
    guard claimed >= receivedAt - lifetimeMilliseconds else {
      throw FieldError(field: field, reason: "is more than 24 hours ago: the token has expired")
    }
    guard claimed <= receivedAt + clockToleranceMilliseconds else {
      throw FieldError(field: field, reason: "is more than 5 minutes in the future")
    }
    return min(claimed, receivedAt)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension AttributionToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "token \(key.prefix(8))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
