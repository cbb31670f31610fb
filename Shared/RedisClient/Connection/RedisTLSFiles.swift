import Cryptography
import NIOSSL

/// The files for TLS connections to Redis (`rediss://`). They are read for each new connection, so that replaced files take effect without
/// a restart.
public struct RedisTLSFiles: Sendable, Hashable {
  /// The PEM file with the authorities that may issue Redis' certificate; nil for the system's authorities.
  public var caFile: String?
  /// The PEM file with the client certificate, followed by those of its chain; nil for no client certificate.
  public var certificateFile: String?
  /// The PEM file with the client certificate's key. Only the file's owner may be able to read it.
  public var keyFile: String?

  public init(caFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
    self.caFile = caFile
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }

  /// Throws ``RedisError/tls(_:)``, whose text names the file, if a file is missing or invalid.
  public func check() throws(RedisError) { _ = try context() }

  /// A context that verifies Redis' certificate and host name, and requires TLS 1.2 or later.
  func context() throws(RedisError) -> NIOSSLContext {
    // The files may be replaced between the reads of certificate and key. Then a second attempt finds a matching pair.
    do throws(RedisError) { return try read() } catch { return try read() }
  }

  private func read() throws(RedisError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    if let caFile { configuration.trustRoots = .certificates(try Self.certificates(caFile)) }
    if let certificateFile, let keyFile {
      configuration.certificateChain = try Self.certificates(certificateFile).map { .certificate($0) }
      configuration.privateKey = .privateKey(try Self.key(keyFile))
    }
    do { return try NIOSSLContext(configuration: configuration) } catch {
      guard let certificateFile, let keyFile else { throw .tls("TLS cannot be set up with \(caFile ?? "the system's authorities")") }
      throw .tls("\(keyFile) is not the key of the certificate in \(certificateFile)")
    }
  }

  private static func certificates(_ path: String) throws(RedisError) -> [NIOSSLCertificate] {
    guard let found = try? NIOSSLCertificate.fromPEMFile(path), !found.isEmpty else {
      throw .tls("\(path) cannot be read, or contains no certificate in PEM format")
    }
    return found
  }

  private static func key(_ path: String) throws(RedisError) -> NIOSSLPrivateKey {
    let bytes: [UInt8]
    do throws(KeyFileError) { bytes = try PrivateFile.bytes(path) } catch { throw .tls("\(error)") }
    do { return try NIOSSLPrivateKey(bytes: bytes, format: .pem) } catch {
      throw .tls("\(path) contains no unencrypted private key in PEM format")
    }
  }
}
