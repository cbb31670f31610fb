import COpenSSL

/// SHA-256.
public enum SHA256Digest {
  /// The size of a digest in bytes.
  public static let size = 32

  /// The 32 bytes of the digest.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBufferPointer { hash($0) } }

  static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      hash(bytes, into: buffer.baseAddress!)
      count = size
    }
  }

  /// Writes the digest to `digest`, which may overlap the input.
  static func hash(_ bytes: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutablePointer<UInt8>) {
    let made = copenssl_sha256(bytes.baseAddress, bytes.count, digest)
    // A wrong digest would lead to wrong signatures and idempotency keys, so the process must not continue with one.
    precondition(made == 1, "SHA-256 is not available")
  }

  /// The 32 bytes of the digest of the text's UTF-8.
  public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}
