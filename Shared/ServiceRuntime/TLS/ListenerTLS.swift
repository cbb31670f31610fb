/// The files for the TLS of a listener: its certificate and key, and the authorities of callers' certificates.
public struct ListenerTLS: Sendable, Hashable {
  /// A PEM file with the listener's certificate, followed by its chain.
  public let certificateFile: String
  /// A PEM file with the unencrypted private key. Only its owner may be able to read it.
  public let keyFile: String
  /// A PEM file with the authorities of callers' certificates; nil if callers are not asked for certificates.
  public var clientCAFile: String?
  /// True if the TLS handshake fails for callers without a certificate.
  public var requiresClientCertificate = false

  public init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }

  /// All files.
  var files: [String] { [certificateFile, keyFile] + (clientCAFile.map { [$0] } ?? []) }
}
