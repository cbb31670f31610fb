import COpenSSL

/// Process-wide settings of OpenSSL.
public enum OpenSSLLibrary {
  /// Prevents OpenSSL's cleanup at exit, which could crash threads that still run. The system frees the memory anyway. Must be called
  /// before any other use of OpenSSL.
  public static func keepUntilTheEnd() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
