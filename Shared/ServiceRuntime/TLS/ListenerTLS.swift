/// Where a listener's certificate and key are, and whose certificates it takes from callers.
public struct ListenerTLS: Sendable, Hashable {
  /// PEM, the listener's own certificate first and those that lead to its root after it.
  public let certificateFile: String
  /// PEM, readable by the owner alone.
  public let keyFile: String
  /// PEM, the authorities whose certificates callers may show; nil: none are asked for.
  public var clientCAFile: String?
  /// Whether a caller without a certificate is turned away before it has said anything.
  public var requiresClientCertificate = false

  public init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }

  var files: [String] { [certificateFile, keyFile] + (clientCAFile.map { [$0] } ?? []) }
}
