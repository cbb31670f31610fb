/// A JWS in compact form (RFC 7515): three Base64URL parts. Header and payload are not interpreted.
public struct CompactJWS: Sendable, Hashable {
  public enum Failure: Error, Sendable, Hashable {
    /// Not exactly three parts, header or payload empty, or not strict Base64URL.
    case malformed
    /// Longer than allowed.
    case tooLong(limit: Int)
  }

  public let header: [UInt8]
  public let payload: [UInt8]
  public let signature: [UInt8]
  /// The signed bytes: `header.payload` as sent.
  public let signingInput: [UInt8]

  /// Checks the size first, so that nothing of a longer token is decoded.
  public init(_ text: String, limit: Int = 256 << 10) throws(Failure) {
    let encoded = try EncodedJWS(text, limit: limit)
    guard let header = encoded.header.decoded else { throw .malformed }
    self.header = header
    payload = encoded.payload
    signature = encoded.signature
    signingInput = encoded.signingInput
  }

  /// Signs a header and a payload with ES256.
  public static func sign(header: [UInt8], payload: [UInt8], with key: some MessageSigner) throws(SignatureError) -> String {
    try sign(encodedHeader: Base64.encodeURL(header), payload: payload, with: key)
  }

  /// Signs a payload with an encoded header, which is the same for all JWS of a key.
  public static func sign(encodedHeader: String, payload: [UInt8], with key: some MessageSigner) throws(SignatureError) -> String {
    let input = signingInput(encodedHeader: encodedHeader, payload: payload)
    return completed(input, with: try key.sign(Array(input.utf8)))
  }

  /// The bytes to sign of an encoded header and a payload.
  public static func signingInput(encodedHeader: String, payload: [UInt8]) -> String {
    var text = encodedHeader
    // Includes space for the signature.
    text.reserveCapacity(encodedHeader.utf8.count + payload.count * 4 / 3 + 96)
    text += "."
    text += Base64.encodeURL(payload)
    return text
  }

  /// The JWS of the signed bytes and their signature.
  public static func completed(_ signingInput: String, with signature: ECDSASignature) -> String {
    var text = signingInput
    text += "."
    text += Base64.encodeURL(signature.raw)
    return text
  }
}
