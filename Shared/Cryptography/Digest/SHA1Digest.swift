import COpenSSL

/// SHA-1, only for the digests by which Redis names scripts (EVALSHA).
public enum SHA1Digest {
  /// The 20 bytes of the digest.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
      _ = SHA1(bytes, bytes.count, buffer.baseAddress)
      count = 20
    }
  }
}
