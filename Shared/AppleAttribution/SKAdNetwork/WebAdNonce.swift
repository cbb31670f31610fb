import Cryptography

/// The nonce of a web ad, which has two encodings (Creating an attributable ad link).
public struct WebAdNonce: Sendable, Hashable {
  /// The UUID with hyphens, in lower case. It is in the signed text and in the payload.
  public let uuid: String
  /// Base64URL of the UUID's 16 bytes, without padding. It is in the link and in the device's request. Upper and lower case differ.
  public let base64URL: String

  /// Parses either encoding. Makes a new nonce if the text is nil. Throws ``FieldError``.
  public init(validating text: String?, field: String = "nonce") throws(FieldError) {
    guard let text else {
      self.init(uuid: RandomBytes.uuid())
      return
    }
    if UUIDText.isValid(text) {
      self.init(uuid: text.lowercased())
      return
    }
    guard text.utf8.count == 22, let bytes = Base64.decodeURL(text), bytes.count == 16 else {
      throw FieldError(field: field, reason: "must be a UUID, or Base64URL of its 16 bytes")
    }
    let hex = Array(Hex.encode(bytes).utf8)
    let parts = [hex[0..<8], hex[8..<12], hex[12..<16], hex[16..<20], hex[20..<32]]
    self.init(uuid: parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-"))
  }

  private init(uuid: String) {
    self.uuid = uuid
    base64URL = Base64.encodeURL(Hex.decode(String(uuid.filter { $0 != "-" })) ?? [])
  }
}
