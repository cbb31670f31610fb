import Cryptography
import Logging
import NIOSSL
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// The current certificate of a listener. It is reloaded when its files change (``CertificateWatch``) and on SIGHUP. A connection keeps the
/// certificate with which it began, so a reload does not affect open connections.
final class LiveTLS: Sendable {
  /// Identifies a version of a file without reading it.
  private struct FileVersion: Hashable {
    let inode: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int
  }

  private struct State {
    var context: NIOSSLContext
    /// The versions of the files that were loaded, or that were refused.
    var loaded: [FileVersion?]
    /// The versions of the files at the last poll.
    var polled: [FileVersion?]
  }

  static let reloads = "attribution_tls_reloads_total"
  static let expiry = "attribution_tls_certificate_expiry_timestamp_seconds"

  private let settings: ListenerTLS
  /// `public` or `internal`.
  private let listener: String
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let state: Mutex<State>

  /// Throws ``ConfigurationError`` for the variable if the files are invalid.
  init(_ settings: ListenerTLS, listener: String, variable: String, metrics: MetricsRegistry, logger: Logger) throws(ConfigurationError) {
    self.settings = settings
    self.listener = listener
    self.metrics = metrics
    self.logger = logger
    metrics.counter(
      Self.reloads, help: "Times that a listener's certificate was read again while running.", labels: ["listener", "outcome"])
    metrics.gauge(Self.expiry, help: "Expiry of a listener's certificate, in seconds since 1970.", labels: ["listener"])
    let versions = Self.versions(settings)
    do throws(TLSFault) {
      let (context, end) = try Self.context(settings)
      state = Mutex(State(context: context, loaded: versions, polled: versions))
      metrics.set(Self.expiry, Double(end), [listener])
    } catch {
      throw ConfigurationError(variable, error.description)
    }
  }

  /// The TLS context for new connections.
  var context: NIOSSLContext { state.withLock { $0.context } }

  /// Reloads the files. If they are invalid, that is logged and counted, and the previous certificate stays in use.
  func reload() {
    let versions = Self.versions(settings)
    do throws(TLSFault) {
      let (context, end) = try Self.context(settings)
      state.withLock { $0 = State(context: context, loaded: versions, polled: versions) }
      metrics.add(Self.reloads, 1, [listener, "applied"])
      metrics.set(Self.expiry, Double(end), [listener])
      logger.notice("the certificate was reloaded", metadata: ["listener": "\(listener)"])
    } catch {
      state.withLock {
        $0.loaded = versions
        $0.polled = versions
      }
      metrics.add(Self.reloads, 1, [listener, "refused"])
      logger.error(
        "the changed certificate was refused; the previous one stays in use", metadata: ["listener": "\(listener)", "reason": "\(error)"])
    }
  }

  /// Reloads the files if they differ from those that were read last and have not changed since the last poll.
  func reloadIfChanged() {
    let versions = Self.versions(settings)
    let isDue = state.withLock { state in
      let isDue = versions != state.loaded && versions == state.polled
      state.polled = versions
      return isDue
    }
    if isDue { reload() }
  }

  private static func versions(_ settings: ListenerTLS) -> [FileVersion?] {
    settings.files.map { path in
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      return FileVersion(
        inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
        nanoseconds: status.st_mtim.tv_nsec)
    }
  }

  /// The TLS context, and the expiry of the certificate, seconds since 1970.
  private static func context(_ settings: ListenerTLS) throws(TLSFault) -> (NIOSSLContext, Int) {
    let chain: [NIOSSLCertificate]
    do { chain = try NIOSSLCertificate.fromPEMFile(settings.certificateFile) } catch {
      throw TLSFault("\(settings.certificateFile) contains no certificate in PEM format")
    }
    guard let own = chain.first else { throw TLSFault("\(settings.certificateFile) contains no certificate in PEM format") }
    let end = Int(own.notValidAfter)
    guard end > time(nil) else { throw TLSFault("the certificate in \(settings.certificateFile) has expired") }
    let key: NIOSSLPrivateKey
    let bytes: [UInt8]
    do throws(KeyFileError) { bytes = try PrivateFile.bytes(settings.keyFile) } catch { throw TLSFault("\(error)") }
    do { key = try NIOSSLPrivateKey(bytes: bytes, format: .pem) } catch {
      throw TLSFault("\(settings.keyFile) contains no unencrypted private key in PEM format")
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2", "http/1.1"]
    if let file = settings.clientCAFile {
      guard let anchors = try? NIOSSLCertificate.fromPEMFile(file), !anchors.isEmpty else {
        throw TLSFault("\(file) contains no certificate in PEM format")
      }
      configuration.trustRoots = .certificates(anchors)
      configuration.certificateVerification = settings.requiresClientCertificate ? .noHostnameVerification : .optionalVerification
      configuration.sendCANameList = true
    }
    do { return (try NIOSSLContext(configuration: configuration), end) } catch {
      throw TLSFault("\(settings.keyFile) is not the key of the certificate in \(settings.certificateFile)")
    }
  }
}

/// The error of invalid certificate files.
private struct TLSFault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
