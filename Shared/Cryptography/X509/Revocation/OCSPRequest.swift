import COpenSSL

/// An OCSP request about one certificate (RFC 6960, 4.1). It has no nonce, because large responders sign their responses in advance and
/// cannot repeat a nonce in them.
public struct OCSPRequest: Sendable, Hashable {
  /// Why a request cannot be made.
  public enum Failure: Error, Sendable, Hashable {
    /// The certificate has no usable URL of a responder over HTTP or HTTPS.
    case noResponder
    /// OpenSSL failed; with its error.
    case notMade(String)
  }

  /// The longest accepted URL, in bytes.
  private static let maxURLBytes = 2048

  /// The body of the POST, to be sent as `application/ocsp-request`.
  public let der: [UInt8]
  /// The responder's URL, from the certificate's Authority Information Access. Use it only for a certificate with a valid path to a pinned
  /// root: a forged certificate could name any server.
  public let responder: String

  /// The request identifies the certificate by its serial number and by SHA-1 hashes of the issuer's name and key. Every responder supports
  /// SHA-1 here (RFC 5019, 2.1.1). The hashes protect nothing, so their strength does not matter.
  public init(certificate: Certificate, issuer: Certificate) throws(Failure) {
    guard let responder = Self.responderURL(of: certificate) else { throw .noResponder }
    self.responder = responder
    guard let request = OCSP_REQUEST_new() else { throw .notMade(OpenSSLErrors.drain("out of memory")) }
    defer { OCSP_REQUEST_free(request) }
    guard let identifier = OCSP_cert_to_id(EVP_sha1(), certificate.raw, issuer.raw) else {
      throw .notMade(OpenSSLErrors.drain("the certificate id cannot be made"))
    }
    guard OCSP_request_add0_id(request, identifier) != nil else {
      OCSP_CERTID_free(identifier)
      throw .notMade(OpenSSLErrors.drain("the certificate id cannot be added to the request"))
    }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = i2d_OCSP_REQUEST(request, &bytes)
    guard count > 0, let bytes else { throw .notMade(OpenSSLErrors.drain("the request cannot be encoded")) }
    der = Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    CRYPTO_free(bytes, nil, 0)
  }

  private static func responderURL(of certificate: Certificate) -> String? {
    guard let urls = X509_get1_ocsp(certificate.raw) else {
      ERR_clear_error()
      return nil
    }
    defer { X509_email_free(urls) }
    for index in 0..<OPENSSL_sk_num(urls) {
      guard let raw = OPENSSL_sk_value(urls, index) else { continue }
      let url = String(cString: raw.assumingMemoryBound(to: CChar.self))
      let scheme = url.prefix { $0 != ":" }.lowercased()
      if scheme == "http" || scheme == "https", url.dropFirst(scheme.count).hasPrefix("://"), url.utf8.count <= maxURLBytes,
        url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      {
        return url
      }
    }
    return nil
  }
}
