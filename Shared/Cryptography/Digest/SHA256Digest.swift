import COpenSSL

/// SHA-256.
public enum SHA256Digest {
  /// Bytes of a digest.
  public static let size = 32

  /// The 32 bytes of the digest.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBufferPointer { hash($0) } }

  fileprivate static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      hash(bytes, into: buffer.baseAddress!)
      count = size
    }
  }

  /// The digest may overwrite its input.
  fileprivate static func hash(_ bytes: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutablePointer<UInt8>) {
    let made = copenssl_sha256(bytes.baseAddress, bytes.count, digest)
    // A wrong digest would lead to wrong signatures and keys, so the process must not continue without one.
    precondition(made == 1, "SHA-256 is not available")
  }

  public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}

/// HMAC with SHA-256 (RFC 2104) under one key.
///
/// Made of two digests: OpenSSL's own HMAC function looks up its algorithms at each call, which takes longer than the digests.
public struct HMACSHA256: Sendable {
  private static let blockSize = 64
  /// The padded key before the message, and before the message's digest.
  private let inner: [UInt8]
  private let outer: [UInt8]

  public init(key: [UInt8]) {
    let short = key.count > Self.blockSize ? SHA256Digest.hash(key) : key
    let block = short + Array(repeating: 0, count: Self.blockSize - short.count)
    inner = block.map { $0 ^ 0x36 }
    outer = block.map { $0 ^ 0x5C }
  }

  /// The 32 bytes of the code.
  public func authenticate(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let length = bytes.count
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.blockSize + max(SHA256Digest.size, length)) { block in
      _ = block.initialize(fromContentsOf: inner)
      let message = UnsafeMutableBufferPointer(rebasing: block[Self.blockSize...])
      if bytes.withContiguousStorageIfAvailable({ _ = message.initialize(fromContentsOf: $0) }) == nil {
        _ = message.initialize(fromContentsOf: bytes)
      }
      SHA256Digest.hash(UnsafeBufferPointer(rebasing: block[..<(Self.blockSize + length)]), into: block.baseAddress! + Self.blockSize)
      _ = block.update(fromContentsOf: outer)
      return SHA256Digest.hash(UnsafeBufferPointer(rebasing: block[..<(Self.blockSize + SHA256Digest.size)]))
    }
  }
}

/// Comparison whose duration does not reveal where two secrets differ.
public enum ConstantTime {
  public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }
}

/// SHA-1, only for the names that Redis gives to scripts.
public enum SHA1Digest {
  /// The 20 bytes of the digest.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
      _ = SHA1(bytes, bytes.count, buffer.baseAddress)
      count = 20
    }
  }
}
