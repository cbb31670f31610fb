import COpenSSL

/// An elliptic-curve public key.
public final class PublicKey: @unchecked Sendable {  // EVP_PKEY is not changed after set-up and counts its references with atomics
  let raw: OpaquePointer
  public let curve: Curve
  /// The key as SubjectPublicKeyInfo in DER. It is encoded at each call, which takes longer than a verification with OpenSSL 3.0.
  public var subjectPublicKeyInfo: [UInt8] {
    var der: UnsafeMutablePointer<UInt8>?
    let length = i2d_PUBKEY(raw, &der)
    defer { CRYPTO_free(der, nil, 0) }
    return Array(UnsafeBufferPointer(start: der, count: max(0, Int(length))))
  }

  /// Takes ownership of the key. Frees it if it has another curve.
  init(owning raw: OpaquePointer) throws(KeyError) {
    do throws(KeyError) {
      curve = try PublicKey.curve(of: raw)
    } catch {
      EVP_PKEY_free(raw)
      throw error
    }
    self.raw = raw
  }

  /// Parses exactly one SubjectPublicKeyInfo of P-192, P-256 or P-384, without trailing bytes.
  public convenience init(subjectPublicKeyInfo der: [UInt8]) throws(KeyError) {
    let parsed: (key: OpaquePointer?, whole: Bool) = der.withUnsafeBufferPointer { buffer in
      var pointer = buffer.baseAddress
      let key = d2i_PUBKEY(nil, &pointer, buffer.count)
      return (key, pointer == buffer.baseAddress.map { $0 + buffer.count })
    }
    guard let key = parsed.key else { throw .notAKey(OpenSSLErrors.drain("not a SubjectPublicKeyInfo")) }
    guard parsed.whole else {
      EVP_PKEY_free(key)
      throw .notAKey("bytes after the key")
    }
    try self.init(owning: key)
  }

  /// Parses PEM that begins with `BEGIN PUBLIC KEY`.
  public convenience init(pem: String) throws(KeyError) {
    guard let key = PEMText.read(pem, { PEM_read_bio_PUBKEY($0, nil, nil, nil) }) else {
      throw .notAKey(OpenSSLErrors.drain("not PEM"))
    }
    try self.init(owning: key)
  }

  deinit { EVP_PKEY_free(raw) }

  /// The key as PEM, as `openssl ec -pubout` writes it.
  public var pem: String {
    let text = Array(Base64.encode(subjectPublicKeyInfo).utf8)
    var lines = "-----BEGIN PUBLIC KEY-----\n"
    for start in stride(from: 0, to: text.count, by: 64) {
      lines += String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self) + "\n"
    }
    return lines + "-----END PUBLIC KEY-----\n"
  }

  /// True if the key's private key signed the message: ECDSA over SHA-256.
  public func verifies(_ signature: ECDSASignature, of message: [UInt8]) -> Bool {
    verifies(signature, digest: SHA256Digest.hash(message))
  }

  /// True if the key's private key signed the digest.
  func verifies(_ signature: ECDSASignature, digest: [UInt8]) -> Bool {
    guard signature.curve == curve, let context = EVP_PKEY_CTX_new(raw, nil) else { return false }
    defer { EVP_PKEY_CTX_free(context) }
    let der = signature.der
    let isValid =
      EVP_PKEY_verify_init(context) == 1 && EVP_PKEY_verify(context, der, der.count, digest, digest.count) == 1
    if !isValid { ERR_clear_error() }
    return isValid
  }

  /// The encoded point, including the leading byte that tells whether it is compressed; nil if OpenSSL does not return it.
  var encodedPoint: [UInt8]? {
    var length = 0
    guard EVP_PKEY_get_octet_string_param(raw, OSSL_PKEY_PARAM_PUB_KEY, nil, 0, &length) == 1, length > 0 else {
      ERR_clear_error()
      return nil
    }
    var point = [UInt8](repeating: 0, count: length)
    guard EVP_PKEY_get_octet_string_param(raw, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &length) == 1 else {
      ERR_clear_error()
      return nil
    }
    return Array(point.prefix(length))
  }

  /// The curve of a key. Throws for an unsupported curve and for a key without one, such as RSA.
  static func curve(of key: OpaquePointer) throws(KeyError) -> Curve {
    var name = [CChar](repeating: 0, count: 64)
    var length = 0
    guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else {
      ERR_clear_error()
      throw .wrongKind(found: EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown")
    }
    let text = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let curve = Curve(groupName: text) else { throw .wrongKind(found: text) }
    return curve
  }
}
