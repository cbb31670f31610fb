import NIOCore
import NIOSSL

enum CertificateNames {
  /// The URI names in the peer's verified certificate; empty without one.
  static func uris(of channel: any Channel) -> [String] {
    guard let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate() else { return [] }
    return certificate._subjectAlternativeNames().compactMap { name in
      name.nameType == .uri ? String(validating: Array(name.contents), as: UTF8.self) : nil
    }
  }
}
