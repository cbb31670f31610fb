#if canImport(Glibc)
  import Glibc
#endif

/// A JWS in compact serialization (RFC 7515): three Base64URL parts. Header and payload are not interpreted, and no signature is verified.
public struct CompactJWS: Sendable, Hashable {
  public enum Failure: Error, Sendable, Hashable {
    /// Not exactly three parts, header or payload empty, or not strict Base64URL.
    case malformed
    /// The text is longer than the limit, in bytes.
    case tooLong(limit: Int)
  }

  public let header: [UInt8]
  public let payload: [UInt8]
  public let signature: [UInt8]
  /// The signed bytes: `header.payload` as sent.
  public let signingInput: [UInt8]

  /// Checks the size (`limit`, in bytes) first, so that nothing of a longer text is decoded.
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

  /// Signs a payload with a header in Base64URL. All JWS of a key have the same header, so a caller can encode it once.
  public static func sign(encodedHeader: String, payload: [UInt8], with key: some MessageSigner) throws(SignatureError) -> String {
    let input = signingInput(encodedHeader: encodedHeader, payload: payload)
    return completed(input, with: try key.sign(Array(input.utf8)))
  }

  /// The bytes to sign: `encodedHeader`, a dot and the payload in Base64URL.
  public static func signingInput(encodedHeader: String, payload: [UInt8]) -> String {
    var text = encodedHeader
    // 96 bytes are enough for two dots and the signature, 86 characters, so that `completed` need not allocate again.
    text.reserveCapacity(encodedHeader.utf8.count + payload.count * 4 / 3 + 96)
    text += "."
    text += Base64.encodeURL(payload)
    return text
  }

  /// The whole JWS: the signing input, a dot and the signature in Base64URL.
  public static func completed(_ signingInput: String, with signature: ECDSASignature) -> String {
    var text = signingInput
    text += "."
    text += Base64.encodeURL(signature.raw)
    return text
  }
}

/// A JWS in compact serialization (RFC 7515) whose header is not decoded yet: a caller that has verified the same header before need not
/// decode the header (``KnownHeader``).
public struct EncodedJWS: Sendable, Equatable {
  public let header: EncodedHeader
  public let payload: [UInt8]
  public let signature: [UInt8]
  /// The signed bytes: `header.payload` as sent.
  public var signingInput: [UInt8] { header.input }

  /// Checks the size (`limit`, in bytes) first, so that nothing of a longer text is decoded.
  public init(_ text: String, limit: Int) throws(CompactJWS.Failure) {
    guard text.utf8.count <= limit else { throw .tooLong(limit: limit) }
    var text = text
    guard let parts = text.withUTF8({ Self.parts($0) }) else { throw .malformed }
    (header, payload, signature) = parts
  }

  private static func parts(_ text: UnsafeBufferPointer<UInt8>) -> (EncodedHeader, [UInt8], [UInt8])? {
    // An empty signature is accepted here, so that the caller can report the algorithm `none`.
    guard let first = dot(in: text, from: 0), first > 0, let second = dot(in: text, from: first + 1), second > first + 1,
      dot(in: text, from: second + 1) == nil
    else { return nil }
    func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: text[range]) }
    guard let payload = Base64.decodeURL(part(first + 1..<second)), let signature = Base64.decodeURL(part(second + 1..<text.count)) else {
      return nil
    }
    return (EncodedHeader(input: Array(part(0..<second)), count: first), payload, signature)
  }

  /// The index of the next dot. `memchr` is many times faster than a loop, and a JWS has kilobytes.
  private static func dot(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    guard start < text.count, let bytes = text.baseAddress,
      let found = memchr(bytes + start, Int32(UInt8(ascii: ".")), text.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
  }
}

/// The header of a JWS in Base64URL, as it was sent. Equal headers are equal byte for byte.
public struct EncodedHeader: Sendable, Equatable {
  /// Bytes that begin with the header: the signing input of a JWS, or only the header.
  fileprivate let input: [UInt8]
  /// The number of the header's bytes.
  private let count: Int

  fileprivate init(input: [UInt8], count: Int) {
    self.input = input
    self.count = count
  }

  /// The decoded header; nil if it is not strict Base64URL.
  public var decoded: [UInt8]? { input.withUnsafeBufferPointer { Base64.decodeURL(UnsafeBufferPointer(rebasing: $0[..<count])) } }

  /// The header's bytes, still encoded.
  var bytes: ArraySlice<UInt8> { input[..<count] }

  /// A copy without the bytes after the header, so that a cache does not keep payloads.
  var withoutPayload: EncodedHeader { EncodedHeader(input: Array(bytes), count: count) }

  public static func == (a: EncodedHeader, b: EncodedHeader) -> Bool {
    guard a.count == b.count else { return false }
    return a.input.withUnsafeBytes { one in
      b.input.withUnsafeBytes { other in
        guard let one = one.baseAddress, let other = other.baseAddress else { return a.count == 0 }
        return memcmp(one, other, a.count) == 0
      }
    }
  }
}
