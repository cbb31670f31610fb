import COpenSSL

/// A verified response of an OCSP responder about one certificate (RFC 6960, 3.2 and 4.2). It reads no clock: the time is passed in.
public struct OCSPResponse: Sendable, Hashable {
  /// The greatest size, in bytes. Genuine responses are several times smaller.
  public static let sizeLimit = 32 << 10
  /// The tolerated difference between the responder's clock and ours, in seconds.
  public static let tolerance: Int64 = 60
  /// A responder sends few single responses and certificates. These limits bound the work for a forged response.
  private static let maxSingleResponses: Int32 = 64
  private static let maxCertificates: Int32 = 8

  public let status: CertificateStatus
  /// The time for which the status is known to be right, in seconds since 1970.
  public let thisUpdate: Int64
  /// The time at or before which newer information will be available, in seconds since 1970.
  public let nextUpdate: Int64

  /// True if the response is valid at that time: from `thisUpdate` to `nextUpdate`, both inclusive, with the tolerance at both ends.
  public func isCurrent(at time: Int64) -> Bool {
    thisUpdate <= time + Self.tolerance && time - Self.tolerance <= nextUpdate
  }

  init(status: CertificateStatus, thisUpdate: Int64, nextUpdate: Int64) {
    self.status = status
    self.thisUpdate = thisUpdate
    self.nextUpdate = nextUpdate
  }

  /// Verifies a response about `certificate`, issued by `issuer`, at `time` in seconds since 1970.
  ///
  /// The issuer must have signed the response, or a delegate: a certificate in the response that the issuer signed, that is valid at `time`
  /// and that may sign responses. The delegate's own revocation is not checked, since that would have no end. Delegates are short-lived.
  public init(verifying der: [UInt8], certificate: Certificate, issuer: Certificate, at time: Int64) throws(OCSPRefusal) {
    defer { ERR_clear_error() }
    guard der.count <= Self.sizeLimit else { throw .tooLarge(der.count) }
    let parsed: (response: OpaquePointer?, whole: Bool) = der.withUnsafeBufferPointer { buffer in
      var pointer = buffer.baseAddress
      let response = d2i_OCSP_RESPONSE(nil, &pointer, buffer.count)
      return (response, pointer == buffer.baseAddress.map { $0 + buffer.count })
    }
    guard let response = parsed.response else { throw .malformed(OpenSSLErrors.drain("not an OCSP response")) }
    defer { OCSP_RESPONSE_free(response) }
    guard parsed.whole else { throw .malformed("bytes after the response") }
    let status = OCSP_response_status(response)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else { throw .notSuccessful(status: Int(status)) }
    guard let basic = OCSP_response_get1_basic(response) else { throw .notBasic }
    defer { OCSP_BASICRESP_free(basic) }
    guard OCSP_resp_count(basic) <= Self.maxSingleResponses,
      OPENSSL_sk_num(OCSP_resp_get0_certs(basic)) <= Self.maxCertificates
    else { throw .tooMany }
    guard OCSP_BASICRESP_get_ext_by_critical(basic, 1, -1) < 0 else { throw .criticalExtension }
    // The signature is checked first, so that later errors are about a genuine response.
    try Self.verifySignature(of: basic, issuer: issuer, at: time)
    self = try Self.singleResponse(in: basic, certificate: certificate, issuer: issuer)
    guard thisUpdate <= nextUpdate else { throw .contradictoryTimes }
    guard thisUpdate <= time + Self.tolerance else { throw .notYetValid(thisUpdate: thisUpdate) }
    guard time - Self.tolerance <= nextUpdate else { throw .expired(nextUpdate: nextUpdate) }
  }

  // MARK: Signature

  private static func verifySignature(of basic: OpaquePointer, issuer: Certificate, at time: Int64) throws(OCSPRefusal) {
    try requireStrong(algorithm: algorithm(of: OCSP_resp_get0_tbs_sigalg(basic)))
    if isNamed(issuer.raw, by: basic) {
      // A bad signature is reported only after the loop, because a delegate may have the issuer's name.
      if isSigned(basic, by: issuer.raw) { return }
    }
    var refusal = isNamed(issuer.raw, by: basic) ? OCSPRefusal.badSignature : .signerNotFound
    let certificates = OCSP_resp_get0_certs(basic)
    for index in 0..<max(0, OPENSSL_sk_num(certificates)) {
      guard let delegate = OPENSSL_sk_value(certificates, index).map(OpaquePointer.init), isNamed(delegate, by: basic),
        X509_cmp(delegate, issuer.raw) != 0
      else { continue }
      do throws(OCSPRefusal) {
        try requireDelegate(delegate, of: issuer.raw, at: time)
        guard isSigned(basic, by: delegate) else { throw .badSignature }
        return
      } catch {
        refusal = error
      }
    }
    throw refusal
  }

  /// True if the certificate is the responder that the response names, by subject or by the hash of its key.
  private static func isNamed(_ certificate: OpaquePointer, by basic: OpaquePointer) -> Bool {
    var keyHash: UnsafePointer<ASN1_OCTET_STRING>?
    var name: OpaquePointer?
    guard OCSP_resp_get0_id(basic, &keyHash, &name) == 1 else { return false }
    if let name { return X509_NAME_cmp(name, X509_get_subject_name(certificate)) == 0 }
    guard let keyHash else { return false }
    var digest = [UInt8](repeating: 0, count: 20)
    var count: UInt32 = 0
    guard X509_pubkey_digest(certificate, EVP_sha1(), &digest, &count) == 1, count == 20 else { return false }
    return bytes(of: keyHash) == digest
  }

  private static func isSigned(_ basic: OpaquePointer, by certificate: OpaquePointer) -> Bool {
    guard let stack = OPENSSL_sk_new_null() else { return false }
    defer { OPENSSL_sk_free(stack) }
    guard OPENSSL_sk_push(stack, UnsafeRawPointer(certificate)) > 0 else { return false }
    // With these flags, OpenSSL only checks the signature with this certificate's key. `requireDelegate` checks whether the certificate may
    // sign, because OpenSSL would use the system's clock.
    let isValid = OCSP_basic_verify(basic, stack, nil, UInt(OCSP_NOINTERN) | UInt(OCSP_NOVERIFY)) == 1
    ERR_clear_error()
    return isValid
  }

  /// Throws unless the issuer signed the delegate's certificate, it may sign responses, and it is valid at `time`.
  private static func requireDelegate(_ delegate: OpaquePointer, of issuer: OpaquePointer, at time: Int64) throws(OCSPRefusal) {
    try requireStrong(algorithm: X509_get_signature_nid(delegate))
    guard X509_check_issued(issuer, delegate) == X509_V_OK, let key = X509_get0_pubkey(issuer), X509_verify(delegate, key) == 1 else {
      throw .signerOfOtherIssuer
    }
    let flags = X509_get_extension_flags(delegate)
    guard flags & UInt32(EXFLAG_INVALID | EXFLAG_CRITICAL) == 0, flags & UInt32(EXFLAG_XKUSAGE) != 0,
      X509_get_extended_key_usage(delegate) & UInt32(XKU_OCSP_SIGN) != 0,
      // OpenSSL returns all ones if the certificate does not restrict its key usage.
      X509_get_key_usage(delegate) & UInt32(KU_DIGITAL_SIGNATURE) != 0
    else { throw .signerWithoutPurpose }
    guard let start = Certificate.seconds(X509_get0_notBefore(delegate)), let end = Certificate.seconds(X509_get0_notAfter(delegate)),
      start <= time + tolerance, time - tolerance <= end
    else { throw .signerOutOfDate }
  }

  private static func algorithm(of identifier: UnsafePointer<X509_ALGOR>?) -> Int32 {
    var object: OpaquePointer?
    X509_ALGOR_get0(&object, nil, nil, identifier)
    return object.map { OBJ_obj2nid($0) } ?? NID_undef
  }

  private static func requireStrong(algorithm: Int32) throws(OCSPRefusal) {
    var digest = NID_undef
    var key = NID_undef
    guard OBJ_find_sigid_algs(algorithm, &digest, &key) == 1, [NID_sha256, NID_sha384, NID_sha512].contains(digest) else {
      throw .weakSignature(OBJ_nid2sn(algorithm).map { String(cString: $0) } ?? "unknown")
    }
  }

  // MARK: Single responses

  /// Combines all single responses about the certificate: the worst status, valid while all of them are valid. A responder may send one
  /// for each hash algorithm of the certificate id.
  private static func singleResponse(in basic: OpaquePointer, certificate: Certificate, issuer: Certificate) throws(OCSPRefusal)
    -> OCSPResponse
  {
    var found: OCSPResponse?
    for algorithm in [EVP_sha1(), EVP_sha256(), EVP_sha384()] {
      guard let identifier = OCSP_cert_to_id(algorithm, certificate.raw, issuer.raw) else {
        throw .malformed(OpenSSLErrors.drain("the certificate id cannot be made"))
      }
      defer { OCSP_CERTID_free(identifier) }
      var index = OCSP_resp_find(basic, identifier, -1)
      while index >= 0 {
        let one = try read(OCSP_resp_get0(basic, index))
        found =
          found.map {
            OCSPResponse(
              status: $0.status.worse(one.status), thisUpdate: max($0.thisUpdate, one.thisUpdate),
              nextUpdate: min($0.nextUpdate, one.nextUpdate))
          } ?? one
        index = OCSP_resp_find(basic, identifier, index)
      }
    }
    guard let found else { throw .otherCertificate }
    return found
  }

  private static func read(_ single: OpaquePointer?) throws(OCSPRefusal) -> OCSPResponse {
    guard let single, OCSP_SINGLERESP_get_ext_by_critical(single, 1, -1) < 0 else { throw .criticalExtension }
    var reason: Int32 = -1
    var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    let code = OCSP_single_get0_status(single, &reason, &revokedAt, &thisUpdate, &nextUpdate)
    let status: CertificateStatus
    switch code {
    case V_OCSP_CERTSTATUS_GOOD: status = .good
    case V_OCSP_CERTSTATUS_REVOKED: status = .revoked(at: try seconds(revokedAt), reason: reason >= 0 ? Int(reason) : nil)
    case V_OCSP_CERTSTATUS_UNKNOWN: status = .unknown
    default: throw .malformed("an unknown certificate status")
    }
    guard nextUpdate != nil else { throw .withoutNextUpdate }
    return OCSPResponse(status: status, thisUpdate: try seconds(thisUpdate), nextUpdate: try seconds(nextUpdate))
  }

  private static func seconds(_ time: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?) throws(OCSPRefusal) -> Int64 {
    guard let time, ASN1_GENERALIZEDTIME_check(time) == 1, let seconds = Certificate.seconds(time) else {
      throw .malformed("a time that cannot be read")
    }
    return seconds
  }

  private static func bytes(of string: UnsafePointer<ASN1_OCTET_STRING>) -> [UInt8] {
    Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
  }
}
