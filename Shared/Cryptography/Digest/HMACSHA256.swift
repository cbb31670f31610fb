import COpenSSL

/// HMAC with SHA-256 (RFC 2104) under one key.
///
/// It is computed as an inner and an outer digest, because OpenSSL's own HMAC function looks up its algorithms at each call, which takes
/// longer than the digests. Each digest begins with a block that depends only on the key. The states after these blocks are computed once.
public final class HMACSHA256: @unchecked Sendable {  // the states are not changed after the initialiser
  private static let blockSize = 64
  private let states = UnsafeMutablePointer<copenssl_hmac_key>.allocate(capacity: 1)

  public init(key: [UInt8]) {
    // RFC 2104 replaces a longer key by its digest, and pads a shorter one with zeros.
    let short = key.count > Self.blockSize ? SHA256Digest.hash(key) : key
    states.initialize(to: copenssl_hmac_key())
    let made = copenssl_hmac_key_set(states, short + Array(repeating: 0, count: Self.blockSize - short.count))
    precondition(made == 1, "SHA-256 is not available")
  }

  deinit {
    OPENSSL_cleanse(states, MemoryLayout<copenssl_hmac_key>.size)
    states.deallocate()
  }

  /// The message authentication code, 32 bytes.
  public func authenticate(_ bytes: some Collection<UInt8>) -> [UInt8] {
    bytes.withContiguousStorageIfAvailable(mac) ?? Array(bytes).withUnsafeBufferPointer(mac)
  }

  private func mac(of bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: SHA256Digest.size) { mac, count in
      let made = copenssl_hmac_sha256(states, bytes.baseAddress, bytes.count, mac.baseAddress)
      // As in ``SHA256Digest``, the process must not continue with a wrong result.
      precondition(made == 1, "SHA-256 is not available")
      count = SHA256Digest.size
    }
  }
}
