import COpenSSL

/// The state of SHA-256 after the bytes with which many messages begin. For each message, only the other bytes are hashed.
final class SHA256Prefix: Sendable {
  private let state: copenssl_sha256_prefix
  private let count: Int

  init(_ prefix: ArraySlice<UInt8>) {
    var state = copenssl_sha256_prefix()
    let made = prefix.withUnsafeBufferPointer { copenssl_sha256_prefix_set(&state, $0.baseAddress, $0.count) }
    // As in ``SHA256Digest``, the process must not continue with a wrong digest.
    precondition(made == 1, "SHA-256 is not available")
    self.state = state
    count = prefix.count
  }

  /// The 32 bytes of the digest of a message. The caller must make sure that the message begins with the prefix.
  func hash(_ message: [UInt8]) -> [UInt8] {
    precondition(message.count >= count, "the message is shorter than its prefix")
    return [UInt8](unsafeUninitializedCapacity: SHA256Digest.size) { digest, size in
      let made = message.withUnsafeBufferPointer { bytes in
        withUnsafePointer(to: state) { copenssl_sha256_after($0, bytes.baseAddress! + count, bytes.count - count, digest.baseAddress) }
      }
      precondition(made == 1, "SHA-256 is not available")
      size = SHA256Digest.size
    }
  }
}
