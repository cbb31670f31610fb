import COpenSSL

/// SHA-256.
public enum SHA256Digest {
  /// Looked up once: OpenSSL's one-call function searches its providers every time. Never changed, never freed.
  nonisolated(unsafe) fileprivate static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

  /// The 32 bytes of the digest.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      let made = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, algorithm, nil)
      // A wrong digest would make wrong signatures and keys: nothing may go on without one.
      precondition(made == 1, "SHA-256 is not available")
      count = 32
    }
  }

  public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}

/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
  /// The 32 bytes of the code.
  ///
  /// Two digests: OpenSSL's own function of this name looks its algorithms up anew each time, which takes longer than they do.
  public static func authenticate(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    let key = key.count > blockSize ? SHA256Digest.hash(key) : key
    return SHA256Digest.hash(padded(key, 0x5C) + SHA256Digest.hash(padded(key, 0x36) + bytes))
  }

  private static let blockSize = 64

  private static func padded(_ key: [UInt8], _ pad: UInt8) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: blockSize) { buffer, count in
      for index in 0..<blockSize { buffer[index] = (index < key.count ? key[index] : 0) ^ pad }
      count = blockSize
    }
  }
}

/// Comparison whose time does not tell where two secrets differ.
public enum ConstantTime {
  public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }
}

/// SHA-1: not for security, but the name Redis gives a script.
public enum SHA1Digest {
  /// The 20 bytes of the digest.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
      _ = SHA1(bytes, bytes.count, buffer.baseAddress)
      count = 20
    }
  }
}
