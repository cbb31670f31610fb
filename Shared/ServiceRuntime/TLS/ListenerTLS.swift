/// The files of a listener's certificate and key, and the authorities of callers' certificates.
public struct ListenerTLS: Sendable, Hashable {
  /// PEM: the listener's certificate, followed by its chain.
  public let certificateFile: String
  /// PEM; only the owner may be able to read it.
  public let keyFile: String
  /// PEM: the authorities of callers' certificates; nil if none are requested.
  public var clientCAFile: String?
  /// True if the TLS handshake fails for callers without a certificate.
  public var requiresClientCertificate = false

  public init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }

  var files: [String] { [certificateFile, keyFile] + (clientCAFile.map { [$0] } ?? []) }
}
