import COpenSSL

/// An OCSP request about one certificate (RFC 6960, 4.1), without a nonce, because large responders sign their answers in advance.
public struct OCSPRequest: Sendable, Hashable {
  /// Why a request cannot be made.
  public enum Failure: Error, Sendable, Hashable {
    /// The certificate names no responder over HTTP or HTTPS.
    case noResponder
    /// OpenSSL failed; with its error.
    case notMade(String)
  }

  /// The longest accepted address, bytes.
  private static let addressLimit = 2048

  /// The body of the POST, to be sent as `application/ocsp-request`.
  public let der: [UInt8]
  /// The responder's address from the certificate's Authority Information Access. It must only be used for a certificate with a valid path
  /// to a pinned root.
  public let responder: String

  /// Identifies the certificate by SHA-1 hashes of the issuer's name and key, which every responder supports (RFC 5019, 2.1.1). The hashes
  /// only identify, so their strength does not matter.
  public init(certificate: Certificate, issuer: Certificate) throws(Failure) {
    guard let responder = Self.responder(of: certificate) else { throw .noResponder }
    self.responder = responder
    guard let request = OCSP_REQUEST_new() else { throw .notMade(OpenSSLErrors.drain("no memory")) }
    defer { OCSP_REQUEST_free(request) }
    guard let identifier = OCSP_cert_to_id(EVP_sha1(), certificate.raw, issuer.raw) else {
      throw .notMade(OpenSSLErrors.drain("no certificate id"))
    }
    guard OCSP_request_add0_id(request, identifier) != nil else {
      OCSP_CERTID_free(identifier)
      throw .notMade(OpenSSLErrors.drain("no request"))
    }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_OCSP_REQUEST(request, &bytes)
    guard count > 0, let bytes else { throw .notMade(OpenSSLErrors.drain("no DER")) }
    der = Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    CRYPTO_free(bytes, nil, 0)
  }

  private static func responder(of certificate: Certificate) -> String? {
    guard let addresses = X509_get1_ocsp(certificate.raw) else {
      ERR_clear_error()
      return nil
    }
    defer { X509_email_free(addresses) }
    for index in 0..<OPENSSL_sk_num(addresses) {
      guard let raw = OPENSSL_sk_value(addresses, index) else { continue }
      let address = String(cString: raw.assumingMemoryBound(to: CChar.self))
      let scheme = address.prefix { $0 != ":" }.lowercased()
      if scheme == "http" || scheme == "https", address.dropFirst(scheme.count).hasPrefix("://"), address.utf8.count <= addressLimit,
        address.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      {
        return address
      }
    }
    return nil
  }
}
