import COpenSSL

/// Comparison whose duration does not reveal where two secrets differ.
public enum ConstantTime {
  public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }
}
