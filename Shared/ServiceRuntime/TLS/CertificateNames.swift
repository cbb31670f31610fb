import NIOCore
import NIOSSL

/// Reads the names in a peer's certificate.
enum CertificateNames {
  /// The URI names in the peer's verified certificate; empty if it presented none.
  static func uris(of channel: any Channel) -> [String] {
    guard let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate() else { return [] }
    return certificate._subjectAlternativeNames().compactMap { name in
      name.nameType == .uri ? String(validating: Array(name.contents), as: UTF8.self) : nil
    }
  }
}
