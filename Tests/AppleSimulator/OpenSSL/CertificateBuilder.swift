import COpenSSL

/// Creates X.509 certificates: those of the App Store's chain and those for TLS.
struct CertificateBuilder {
  enum Role { case root, intermediate, leaf, server }

  var commonName: String
  var role: Role
  /// Seconds since 1970.
  var notBefore: Int
  /// Seconds since 1970.
  var notAfter: Int
  /// The object identifiers of Apple's marker extensions; their value is ASN.1 NULL.
  var marks: [String] = []
  /// DNS names and IP addresses, as `DNS:…` and `IP:…`.
  var names: [String] = []
  /// The authority and its key, which sign the certificate; nil for a self-signed root.
  var issuer: (certificate: Certificate, key: EllipticKey)?

  func build(for key: EllipticKey) throws -> Certificate {
    let certificate = Certificate(owning: X509_new())
    let raw = certificate.raw
    // The value 2 stands for version 3.
    X509_set_version(raw, 2)
    try setSerial(raw)
    ASN1_TIME_set(X509_getm_notBefore(raw), notBefore)
    ASN1_TIME_set(X509_getm_notAfter(raw), notAfter)
    guard X509_set_pubkey(raw, key.raw) == 1 else { throw OpenSSLError("set public key") }
    let subject = X509_get_subject_name(raw)
    for (field, value) in [
      ("CN", commonName), ("OU", "Simulated, trusted by no device"), ("O", "Apple Simulator"), ("C", "US"),
    ] {
      X509_NAME_add_entry_by_txt(
        subject, field, MBSTRING_ASC | 0x1000, Array(value.utf8), Int32(value.utf8.count), -1, 0)
    }
    X509_set_issuer_name(raw, issuer.map { X509_get_subject_name($0.certificate.raw) } ?? subject)
    try addExtensions(raw)
    guard X509_sign(raw, (issuer?.key ?? key).raw, EVP_sha384()) > 0 else { throw OpenSSLError("sign certificate") }
    return certificate
  }

  private func setSerial(_ raw: OpaquePointer) throws {
    var bytes = Digest.random(16)
    // The number is positive and has all 16 bytes.
    bytes[0] = bytes[0] & 0x7F | 0x40
    let number = BN_bin2bn(bytes, 16, nil)
    defer { BN_free(number) }
    guard BN_to_ASN1_INTEGER(number, X509_get_serialNumber(raw)) != nil else { throw OpenSSLError("set serial") }
  }

  private func addExtensions(_ raw: OpaquePointer) throws {
    var list: [(Int32, String)] = []
    switch role {
    case .root: list += [(NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign")]
    case .intermediate:
      list += [(NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign,cRLSign")]
    case .leaf: list += [(NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature")]
    case .server:
      list += [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "serverAuth"),
      ]
    }
    list.append((NID_subject_key_identifier, "hash"))
    if issuer != nil { list.append((NID_authority_key_identifier, "keyid:always")) }
    if !names.isEmpty { list.append((NID_subject_alt_name, names.joined(separator: ","))) }
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer?.certificate.raw ?? raw, raw, nil, nil, 0)
    for (nid, value) in list {
      guard let part = X509V3_EXT_conf_nid(nil, &context, nid, value) else { throw OpenSSLError("extension \(value)") }
      X509_add_ext(raw, part, -1)
      X509_EXTENSION_free(part)
    }
    for mark in marks { try addMark(mark, to: raw) }
  }

  /// Adds one of Apple's marker extensions.
  private func addMark(_ identifier: String, to raw: OpaquePointer) throws {
    let object = OBJ_txt2obj(identifier, 1)
    let value = ASN1_OCTET_STRING_new()
    defer {
      ASN1_OBJECT_free(object)
      ASN1_OCTET_STRING_free(value)
    }
    // ASN.1 NULL.
    ASN1_OCTET_STRING_set(value, [0x05, 0x00], 2)
    guard let part = X509_EXTENSION_create_by_OBJ(nil, object, 0, value) else {
      throw OpenSSLError("extension \(identifier)")
    }
    X509_add_ext(raw, part, -1)
    X509_EXTENSION_free(part)
  }
}
