import COpenSSL

@testable import Cryptography

/// A certificate and its key, created for a test. An authority also answers OCSP requests.
final class TestAuthority {
  enum Role { case root, intermediate, leaf, responder(purpose: Bool) }

  static let now: Int64 = 1_790_000_000
  let key: OpaquePointer
  let certificate: Certificate

  init(
    _ role: Role, under issuer: TestAuthority? = nil, notAfter: Int64 = now + 86_400, responder: String? = "http://ocsp.test/a",
    digest: OpaquePointer? = EVP_sha384(), mayCertify: Bool = true, signedBy signer: TestAuthority? = nil
  ) throws {
    let isLeaf = if case .leaf = role { true } else { false }
    key = Self.freshKey(isLeaf ? "P-256" : "P-384")
    let raw = X509_new()!
    defer { X509_free(raw) }
    X509_set_version(raw, 2)
    ASN1_INTEGER_set_int64(X509_get_serialNumber(raw), Int64.random(in: 1...Int64.max))
    ASN1_TIME_set(X509_getm_notBefore(raw), Int(Self.now - 86_400))
    ASN1_TIME_set(X509_getm_notAfter(raw), Int(notAfter))
    X509_set_pubkey(raw, key)
    X509_NAME_add_entry_by_txt(
      X509_get_subject_name(raw), "CN", MBSTRING_ASC, Array("\(role) \(UInt32.random(in: 0 ... .max))".utf8), -1, -1, 0)
    X509_set_issuer_name(raw, issuer.map { X509_get_subject_name($0.certificate.raw) } ?? X509_get_subject_name(raw))
    var list: [(Int32, String)] = []
    switch role {
    case .root: list = [(NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign")]
    case .intermediate:
      list = [
        (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
        (NID_key_usage, mayCertify ? "critical,keyCertSign,cRLSign" : "critical,cRLSign"),
      ]
    case .leaf: list = [(NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature")]
    case .responder(let purpose):
      list = [(NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature")]
      if purpose { list.append((NID_ext_key_usage, "OCSPSigning")) }
    }
    list.append((NID_subject_key_identifier, "hash"))
    if issuer != nil {
      list.append((NID_authority_key_identifier, "keyid:always"))
      if let responder { list.append((NID_info_access, "OCSP;URI:\(responder)")) }
    }
    switch role {
    case .leaf: list.append((NID_undef, CertificateChainVerifier.leafMarker))
    case .intermediate: list.append((NID_undef, CertificateChainVerifier.intermediateMarker))
    default: break
    }
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer?.certificate.raw ?? raw, raw, nil, nil, 0)
    for (nid, value) in list {
      if nid == NID_undef {  // one of Apple's markers, whose value is NULL
        let octets = ASN1_OCTET_STRING_new()
        ASN1_OCTET_STRING_set(octets, [5, 0], 2)
        let object = OBJ_txt2obj(value, 1)
        let part = X509_EXTENSION_create_by_OBJ(nil, object, 0, octets)
        X509_add_ext(raw, part, -1)
        X509_EXTENSION_free(part)
        ASN1_OBJECT_free(object)
        ASN1_OCTET_STRING_free(octets)
        continue
      }
      let part = X509V3_EXT_conf_nid(nil, &context, nid, value)
      X509_add_ext(raw, part, -1)
      X509_EXTENSION_free(part)
    }
    X509_sign(raw, (signer ?? issuer)?.key ?? key, digest)
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509(raw, &bytes)
    certificate = try Certificate(der: Array(UnsafeBufferPointer(start: bytes, count: Int(count))))
    CRYPTO_free(bytes, nil, 0)
  }

  deinit { EVP_PKEY_free(key) }

  private static func freshKey(_ curve: String) -> OpaquePointer {
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    EVP_PKEY_keygen_init(context)
    EVP_PKEY_CTX_set_group_name(context, curve)
    EVP_PKEY_keygen(context, &key)
    return key!
  }

  /// An OCSP answer about `subject` under `issuer`, signed by this authority.
  func ocspResponse(
    about subject: Certificate, under issuer: Certificate, _ status: CertificateStatus = .good, thisUpdate: Int64 = now - 60,
    nextUpdate: Int64? = now + 600, digest: OpaquePointer? = EVP_sha256(), identifier: OpaquePointer? = EVP_sha1()
  ) -> [UInt8] {
    let basic = OCSP_BASICRESP_new()
    defer { OCSP_BASICRESP_free(basic) }
    let id = OCSP_cert_to_id(identifier, subject.raw, issuer.raw)
    defer { OCSP_CERTID_free(id) }
    let start = ASN1_GENERALIZEDTIME_set(nil, Int(thisUpdate))
    let end = nextUpdate.map { ASN1_GENERALIZEDTIME_set(nil, Int($0)) } ?? nil
    var revoked: UnsafeMutablePointer<ASN1_TIME>?
    defer { [start, end, revoked].forEach { ASN1_STRING_free($0) } }
    switch status {
    case .good: OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_GOOD, 0, nil, start, end)
    case .unknown: OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_UNKNOWN, 0, nil, start, end)
    case .revoked(let time, let reason):
      revoked = ASN1_GENERALIZEDTIME_set(nil, Int(time))
      OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_REVOKED, Int32(reason ?? -1), revoked, start, end)
    }
    OCSP_basic_sign(basic, certificate.raw, key, digest, nil, 0)
    let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
    defer { OCSP_RESPONSE_free(response) }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_OCSP_RESPONSE(response, &bytes)
    defer { CRYPTO_free(bytes, nil, 0) }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }
}
