import COpenSSL

/// Process-wide settings of OpenSSL.
public enum OpenSSLLibrary {
  /// Must be called before any other use of OpenSSL. It prevents OpenSSL's cleanup at exit, which could crash threads that still run. The
  /// system frees the memory anyway.
  public static func keepUntilTheEnd() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
