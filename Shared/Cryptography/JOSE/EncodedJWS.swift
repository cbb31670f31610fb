#if canImport(Glibc)
  import Glibc
#endif

/// A JWS in its compact form (RFC 7515) whose header is not decoded yet. A caller that has verified the same header before need not decode
/// it.
public struct EncodedJWS: Sendable, Equatable {
  public let header: EncodedHeader
  public let payload: [UInt8]
  public let signature: [UInt8]
  /// The signed bytes: `header.payload` as sent.
  public var signingInput: [UInt8] { header.input }

  /// Checks the size first, so that nothing of a longer token is decoded.
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

  /// The place of the next dot. `memchr` is many times faster than a loop, and a token has kilobytes.
  private static func dot(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    guard start < text.count, let bytes = text.baseAddress,
      let found = memchr(bytes + start, Int32(UInt8(ascii: ".")), text.count - start)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
  }
}

/// The header of a JWS in Base64URL, as it was sent. Equal headers are equal byte for byte.
public struct EncodedHeader: Sendable, Equatable {
  /// Bytes that begin with the header. The rest is ignored here.
  fileprivate let input: [UInt8]
  private let count: Int

  fileprivate init(input: [UInt8], count: Int) {
    self.input = input
    self.count = count
  }

  /// The decoded header; nil if it is not strict Base64URL.
  public var decoded: [UInt8]? { input.withUnsafeBufferPointer { Base64.decodeURL(UnsafeBufferPointer(rebasing: $0[..<count])) } }

  /// A copy without the bytes after the header, for a cache.
  var alone: EncodedHeader { EncodedHeader(input: Array(input[..<count]), count: count) }

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
