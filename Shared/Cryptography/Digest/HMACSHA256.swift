import COpenSSL

/// HMAC with SHA-256 (RFC 2104) under one key.
///
/// Computed with two digests: OpenSSL's own HMAC function looks up its algorithms at each call, which takes longer than the digests. Both
/// begin with a block that contains the key, and their states after it are stored.
public final class HMACSHA256: @unchecked Sendable {  // the states are not changed after they are made
  private static let blockSize = 64
  private let states = UnsafeMutablePointer<copenssl_hmac_key>.allocate(capacity: 1)

  public init(key: [UInt8]) {
    let short = key.count > Self.blockSize ? SHA256Digest.hash(key) : key
    states.initialize(to: copenssl_hmac_key())
    let made = copenssl_hmac_key_set(states, short + Array(repeating: 0, count: Self.blockSize - short.count))
    precondition(made == 1, "SHA-256 is not available")
  }

  deinit {
    OPENSSL_cleanse(states, MemoryLayout<copenssl_hmac_key>.size)
    states.deallocate()
  }

  /// The 32 bytes of the code.
  public func authenticate(_ bytes: some Collection<UInt8>) -> [UInt8] {
    bytes.withContiguousStorageIfAvailable(code) ?? Array(bytes).withUnsafeBufferPointer(code)
  }

  private func code(of bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: SHA256Digest.size) { code, count in
      let made = copenssl_hmac_sha256(states, bytes.baseAddress, bytes.count, code.baseAddress)
      // As for ``SHA256Digest``.
      precondition(made == 1, "SHA-256 is not available")
      count = SHA256Digest.size
    }
  }
}
