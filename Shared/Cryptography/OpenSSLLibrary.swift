import COpenSSL

/// OpenSSL as the process's own.
public enum OpenSSLLibrary {
  /// To be called before anything else uses OpenSSL: at the process's end it then takes nothing down under threads that still run,
  /// which would end a service that is done with a crash. The system takes all of it back anyway.
  public static func keepUntilTheEnd() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
  }
}
