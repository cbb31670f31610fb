import COpenSSL

/// The signed part of a certificate and its signature (RFC 5280, section 4.1.1), for keys with precomputed tables.
struct CertificateSignature {
  let digest: [UInt8]
  let signature: ECDSASignature

  /// Nil for anything but plain ECDSA with SHA-256, SHA-384 or SHA-512. Nil does not mean that the certificate is invalid: the caller then
  /// lets OpenSSL verify it.
  init?(of certificate: Certificate, curve: Curve) {
    var bits: UnsafePointer<ASN1_BIT_STRING>?
    var algorithm: UnsafePointer<X509_ALGOR>?
    X509_get0_signature(&bits, &algorithm, certificate.raw)
    guard let bits, let algorithm, let inner = X509_get0_tbs_sigalg(certificate.raw), X509_ALGOR_cmp(algorithm, inner) == 0,
      // The lowest three flags are the number of unused bits, which must be zero for a signature.
      bits.pointee.flags & 0x7 == 0, bits.pointee.length > 0, let start = bits.pointee.data,
      let hash = SHA2(signatureAlgorithm: X509_get_signature_nid(certificate.raw)), let signed = Self.signedPart(of: certificate.der)
    else { return nil }
    let bytes = Array(UnsafeBufferPointer(start: start, count: Int(bits.pointee.length)))
    guard let signature = try? ECDSASignature(der: bytes, curve: curve) else { return nil }
    self.signature = signature
    digest = hash.hash(certificate.der[signed])
  }

  /// The range of the first element of the outer SEQUENCE, including its header. Nil unless both have definite lengths inside the bytes.
  private static func signedPart(of der: [UInt8]) -> Range<Int>? {
    guard let outer = content(of: der, at: 0), let inner = content(of: der, at: outer.lowerBound), inner.upperBound <= outer.upperBound
    else {
      return nil
    }
    return outer.lowerBound..<inner.upperBound
  }

  /// The range of the content of the SEQUENCE at an offset.
  private static func content(of der: [UInt8], at start: Int) -> Range<Int>? {
    guard start + 2 <= der.count, der[start] == 0x30 else { return nil }
    var position = start + 2
    var length = Int(der[start + 1])
    if length >= 0x80 {
      let count = length & 0x7F
      guard count > 0, count <= 4, position + count <= der.count else { return nil }
      length = der[position..<position + count].reduce(0) { $0 << 8 | Int($1) }
      position += count
    }
    guard length <= der.count - position else { return nil }
    return position..<position + length
  }
}

/// The digest algorithms of certificates' signatures.
private enum SHA2 {
  case sha256, sha384, sha512

  init?(signatureAlgorithm: Int32) {
    switch signatureAlgorithm {
    case NID_ecdsa_with_SHA256: self = .sha256
    case NID_ecdsa_with_SHA384: self = .sha384
    case NID_ecdsa_with_SHA512: self = .sha512
    default: return nil
    }
  }

  /// Safe: looked up once, never changed, never freed.
  nonisolated(unsafe) private static let algorithms = (
    EVP_MD_fetch(nil, "SHA256", nil), EVP_MD_fetch(nil, "SHA384", nil), EVP_MD_fetch(nil, "SHA512", nil)
  )

  func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let (algorithm, length): (OpaquePointer?, Int) =
      switch self {
      case .sha256: (Self.algorithms.0, 32)
      case .sha384: (Self.algorithms.1, 48)
      case .sha512: (Self.algorithms.2, 64)
      }
    return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      let made = bytes.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, buffer.baseAddress, nil, algorithm, nil) }
      // OpenSSL always has SHA-2. If it did not, no signature must be verified with the uninitialised digest.
      precondition(made == 1, "SHA-2 is not available")
      count = length
    }
  }
}
