import COpenSSL

/// An X.509 certificate.
// Safe to share: the initialiser parses the certificate in full, then it is only read. OpenSSL counts its references with atomics.
public final class Certificate: @unchecked Sendable {
  let raw: OpaquePointer
  public let der: [UInt8]
  /// The begin of the validity, in seconds since 1970, inclusive.
  public let notBefore: Int64
  /// The end of the validity, in seconds since 1970, inclusive.
  public let notAfter: Int64

  public enum Failure: Error, Sendable, Hashable {
    /// Not exactly one DER certificate; with a description.
    case malformed(String)
  }

  /// Parses exactly one DER certificate, without trailing bytes.
  public init(der: [UInt8]) throws(Failure) {
    let parsed: (certificate: OpaquePointer?, whole: Bool) = der.withUnsafeBufferPointer { buffer in
      var pointer = buffer.baseAddress
      let certificate = d2i_X509(nil, &pointer, buffer.count)
      return (certificate, pointer == buffer.baseAddress.map { $0 + buffer.count })
    }
    guard let raw = parsed.certificate else { throw .malformed(OpenSSLErrors.drain("not a certificate")) }
    guard parsed.whole, let start = Self.seconds(X509_get0_notBefore(raw)),
      let end = Self.seconds(X509_get0_notAfter(raw))
    else {
      X509_free(raw)
      throw .malformed("bytes after the certificate, or a validity that cannot be read")
    }
    // Makes OpenSSL parse and cache the extensions now, so that later reads do not modify the object.
    _ = X509_check_purpose(raw, -1, 0)
    ERR_clear_error()
    self.raw = raw
    self.der = der
    notBefore = start
    notAfter = end
  }

  /// Parses DER, or the first certificate of a PEM text.
  public convenience init(derOrPEM bytes: [UInt8]) throws(Failure) {
    guard bytes.starts(with: Array("-----BEGIN".utf8)) else {
      try self.init(der: bytes)
      return
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let begin = lines.firstIndex(where: { $0.hasPrefix("-----BEGIN CERTIFICATE") }),
      let end = lines[begin...].firstIndex(where: { $0.hasPrefix("-----END CERTIFICATE") }),
      let der = Base64.decode(lines[(begin + 1)..<end].joined())
    else { throw .malformed("not a PEM certificate") }
    try self.init(der: der)
  }

  deinit { X509_free(raw) }

  /// True if there is an extension with that object identifier, whatever its value.
  public func hasExtension(_ oid: String) -> Bool {
    guard let object = OBJ_txt2obj(oid, 1) else { return false }
    defer { ASN1_OBJECT_free(object) }
    return X509_get_ext_by_OBJ(raw, object, -1) >= 0
  }

  /// The certified key.
  public func publicKey() throws(KeyError) -> PublicKey {
    guard let key = X509_get_pubkey(raw) else { throw .notAKey(OpenSSLErrors.drain("no key")) }
    return try PublicKey(owning: key)
  }

  /// True if that key signed the certificate. OpenSSL verifies the signature.
  func isSigned(by key: OpaquePointer?) -> Bool {
    let isValid = key != nil && X509_verify(raw, key) == 1
    if !isValid { ERR_clear_error() }
    return isValid
  }

  /// True if the certificate names itself as its issuer and its own key signed it.
  public var isSelfSigned: Bool {
    let isValid = X509_self_signed(raw, 1) == 1
    if !isValid { ERR_clear_error() }
    return isValid
  }

  /// Seconds since 1970; nil for an invalid time.
  static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    var parts = tm()
    guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Int64(timegm(&parts))
  }
}
