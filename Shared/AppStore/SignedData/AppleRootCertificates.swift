public import Cryptography

/// Apple's root certificates, as Apple PKI publishes them.
public enum AppleRootCertificates {
  /// SHA-256 of the DER of Apple Root CA - G3.
  static let g3Digest = "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"

  /// Apple Root CA - G3 (P-384, 2014-04-30 to 2039-04-30), which issues today's chain.
  public static let g3: Certificate = {
    let der = Base64.decode(g3Text) ?? []
    precondition(Hex.encode(SHA256Digest.hash(der)) == g3Digest, "the built-in root certificate is damaged")
    guard let certificate = try? Certificate(der: der) else {
      preconditionFailure("the built-in root certificate is damaged")
    }
    return certificate
  }()

  /// SHA-256 of the DER of Apple's other roots: Apple Root CA - G2, Apple Root CA.
  static let otherDigests: Set = [
    "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050", "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
  ]

  /// True if the certificate is one of Apple's roots, byte for byte.
  public static func contain(_ certificate: Certificate) -> Bool {
    let digest = Hex.encode(SHA256Digest.hash(certificate.der))
    return digest == g3Digest || otherDigests.contains(digest)
  }

  private static let g3Text =
    "MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwSQXBwbGUgUm9vdCBDQSAtIEczMSYwJAYDVQQL"
    + "DB1BcHBsZSBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcNMTQwNDMw"
    + "MTgxOTA2WhcNMzkwNDMwMTgxOTA2WjBnMRswGQYDVQQDDBJBcHBsZSBSb290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRp"
    + "ZmljYXRpb24gQXV0aG9yaXR5MRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqGSM49AgEGBSuBBAAiA2IA"
    + "BJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWmBSp3ZHtfTjjTuxxEtX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqX"
    + "l5dvMVztK517IDvYuVTZXpmkOlEKMaNCMEAwHQYDVR0OBBYEFLuw3qFYM4iapIqZ3r6966/ayySrMA8GA1UdEwEB/wQFMAMBAf8w"
    + "DgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49BAMDA2gAMGUCMQCD6cHEFl4aXTQY2e3v9GwOAEZLuN+yRhHFD/3meoyhpmvOwgPUnPWT"
    + "xnS4at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkLF1vLUagM6BgD56KyKA=="
}
