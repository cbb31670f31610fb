/// HMAC with SHA-256 (RFC 2104) under one key.
///
/// Computed with two digests: OpenSSL's own HMAC function looks up its algorithms at each call, which takes longer than the digests.
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
