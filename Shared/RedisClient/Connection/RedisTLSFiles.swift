import Cryptography
import NIOSSL

/// The files that a TLS connection to Redis is made with (`rediss://`). They are read anew for each connection, so that replaced files
/// take effect without a restart and connections that stand are left alone.
public struct RedisTLSFiles: Sendable, Hashable {
  /// PEM, the authorities that Redis' certificate may come from; nil: the system's.
  public var caFile: String?
  /// PEM, the certificate that is shown to Redis, and those that lead to its root after it; nil: none is shown.
  public var certificateFile: String?
  /// PEM, the key of that certificate, readable by its owner alone.
  public var keyFile: String?

  public init(caFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
    self.caFile = caFile
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }

  /// Throws ``RedisError/tls(_:)`` naming the file that is not what it should be.
  public func check() throws(RedisError) { _ = try context() }

  /// Certificate and host name are verified; TLS 1.2 at the least.
  func context() throws(RedisError) -> NIOSSLContext {
    // Read a second time where certificate and key were replaced between the reading of one and of the other.
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
      throw .tls("\(keyFile ?? "the key") is not the key of the certificate in \(certificateFile ?? "its file")")
    }
  }

  private static func certificates(_ path: String) throws(RedisError) -> [NIOSSLCertificate] {
    guard let found = try? NIOSSLCertificate.fromPEMFile(path), !found.isEmpty else {
      throw .tls("\(path) holds no certificate in PEM form")
    }
    return found
  }

  private static func key(_ path: String) throws(RedisError) -> NIOSSLPrivateKey {
    let bytes: [UInt8]
    do throws(KeyFileError) { bytes = try PrivateFile.bytes(path) } catch { throw .tls("\(error)") }
    do { return try NIOSSLPrivateKey(bytes: bytes, format: .pem) } catch {
      throw .tls("\(path) holds no private key in PEM form that needs no passphrase")
    }
  }
}
