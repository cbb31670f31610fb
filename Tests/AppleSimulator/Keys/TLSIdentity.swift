import Foundation

/// The certificate authority and the server certificate of the simulator's HTTPS server. The authority is stored, so that clients can keep
/// trusting it; the server certificate is new at each start.
struct TLSIdentity {
  let authorityPEM: String
  let certificatePEM: String
  let keyPEM: String

  init(in directory: StateDirectory, hosts: [String]) throws {
    let authorityKey = try directory.key("tls-ca", .p256)
    let now = Int(Date().timeIntervalSince1970)
    let day = 86_400
    let authority = try directory.certificate("tls-ca") {
      try CertificateBuilder(
        commonName: "Apple Simulator TLS CA", role: .root, notBefore: now - 2 * day, notAfter: now + 3650 * day
      ).build(for: authorityKey)
    }
    let key = try EllipticKey.generate(.p256)
    let certificate = try CertificateBuilder(
      commonName: "Apple Simulator", role: .server, notBefore: now - 2 * day, notAfter: now + 390 * day,
      names: ["IP:127.0.0.1"] + hosts.map { "DNS:" + $0 }, issuer: (authority, authorityKey)
    ).build(for: key)
    authorityPEM = try authority.pem()
    certificatePEM = try certificate.pem()
    keyPEM = try key.privatePEM()
  }
}
