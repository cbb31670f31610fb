import COpenSSL

/// A private key on one of the curves with which Apple signs.
public final class EllipticKey: @unchecked Sendable {  // EVP_PKEY does not change after its creation: safe to share
  public enum Curve: String, Sendable {
    case p192, p256, p384

    /// The number of bytes of a coordinate, and of `r` and `s` in a signature.
    public var width: Int {
      switch self {
      case .p192: 24
      case .p256: 32
      case .p384: 48
      }
    }

    var nid: Int32 {
      switch self {
      case .p192: NID_X9_62_prime192v1
      case .p256: NID_X9_62_prime256v1
      case .p384: NID_secp384r1
      }
    }
  }

  public let curve: Curve
  let raw: OpaquePointer

  private init(raw: OpaquePointer, curve: Curve) {
    self.raw = raw
    self.curve = curve
  }

  deinit { EVP_PKEY_free(raw) }

  public static func generate(_ curve: Curve) throws -> EllipticKey {
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, curve.nid) == 1,
      EVP_PKEY_CTX_set_ec_param_enc(context, OPENSSL_EC_NAMED_CURVE) == 1, EVP_PKEY_keygen(context, &key) == 1, let key
    else { throw OpenSSLError("generate \(curve.rawValue)") }
    return EllipticKey(raw: key, curve: curve)
  }

  public init(pem: String, curve: Curve) throws {
    let key = MemoryBIO.reading(Array(pem.utf8)) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
    guard let key else { throw OpenSSLError("read private key") }
    guard EVP_PKEY_get_bits(key) == Int32(curve.width * 8) else {
      EVP_PKEY_free(key)
      throw OpenSSLError("read private key: not \(curve.rawValue)")
    }
    raw = key
    self.curve = curve
  }

  /// The private key as PKCS#8 in PEM.
  public func privatePEM() throws -> String {
    let bytes = try MemoryBIO.writing("write private key") {
      PEM_write_bio_PKCS8PrivateKey($0, raw, nil, nil, 0, nil, nil)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The public key as SubjectPublicKeyInfo in DER.
  public func publicDER() throws -> [UInt8] {
    var pointer: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(raw, &pointer)
    guard count > 0, let pointer else { throw OpenSSLError("write public key") }
    defer { CRYPTO_free(pointer, #fileID, #line) }
    return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
  }

  /// The public key as SubjectPublicKeyInfo in PEM.
  public func publicPEM() throws -> String {
    let bytes = try MemoryBIO.writing("write public key") { PEM_write_bio_PUBKEY($0, raw) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Signs with ECDSA and SHA-256; the signature is in DER.
  public func signDER(_ message: [UInt8]) throws -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    var count = 0
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, raw) == 1,
      EVP_DigestSign(context, nil, &count, message, message.count) == 1
    else { throw OpenSSLError("sign") }
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { throw OpenSSLError("sign") }
    return Array(signature.prefix(count))
  }

  /// Signs with ECDSA and SHA-256; the signature is `r || s`, each padded to the width of the curve.
  public func signRaw(_ message: [UInt8]) throws -> [UInt8] {
    let der = try signDER(message)
    let parsed = der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return d2i_ECDSA_SIG(nil, &start, buffer.count)
    }
    guard let parsed else { throw OpenSSLError("read signature") }
    defer { ECDSA_SIG_free(parsed) }
    var r = [UInt8](repeating: 0, count: curve.width)
    var s = r
    BN_bn2binpad(ECDSA_SIG_get0_r(parsed), &r, Int32(curve.width))
    BN_bn2binpad(ECDSA_SIG_get0_s(parsed), &s, Int32(curve.width))
    return r + s
  }
}
