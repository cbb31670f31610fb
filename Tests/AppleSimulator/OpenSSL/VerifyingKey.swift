import COpenSSL

/// A developer's public key: the part of an In-App Purchase key that Apple stores.
public final class VerifyingKey: @unchecked Sendable {  // EVP_PKEY does not change after its creation: safe to share
  private let raw: OpaquePointer
  /// The number of bytes of `r` and of `s`.
  public let width: Int

  /// Reads a SubjectPublicKeyInfo in PEM.
  public init(pem: String) throws {
    let key = MemoryBIO.reading(Array(pem.utf8)) { PEM_read_bio_PUBKEY($0, nil, nil, nil) }
    guard let key else { throw OpenSSLError("read public key") }
    raw = key
    width = (Int(EVP_PKEY_get_bits(key)) + 7) / 8
  }

  /// Reads a SubjectPublicKeyInfo in DER.
  public init(der: [UInt8]) throws {
    let key = der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_PUBKEY(nil, &start, buffer.count)
    }
    guard let key else { throw OpenSSLError("read public key") }
    raw = key
    width = (Int(EVP_PKEY_get_bits(key)) + 7) / 8
  }

  deinit { EVP_PKEY_free(raw) }

  /// True if the DER signature of the message is valid (ECDSA with SHA-256).
  public func verifies(der signature: [UInt8], of message: [UInt8]) -> Bool {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    let isValid =
      EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, raw) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    ERR_clear_error()
    return isValid
  }

  /// True if the signature `r || s` of the message is valid (ECDSA with SHA-256).
  public func verifies(raw signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == 2 * width else { return false }
    let parts = ECDSA_SIG_new()
    defer { ECDSA_SIG_free(parts) }
    let r = BN_bin2bn(Array(signature.prefix(width)), Int32(width), nil)
    let s = BN_bin2bn(Array(signature.suffix(width)), Int32(width), nil)
    guard ECDSA_SIG_set0(parts, r, s) == 1 else { return false }
    var pointer: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(parts, &pointer)
    guard count > 0, let pointer else { return false }
    defer { CRYPTO_free(pointer, #fileID, #line) }
    return verifies(der: Array(UnsafeBufferPointer(start: pointer, count: Int(count))), of: message)
  }
}
