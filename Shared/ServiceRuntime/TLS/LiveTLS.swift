import Cryptography
import Logging
import NIOSSL
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// The current certificate of a listener. A connection keeps the certificate with which it began, so a reload does not affect open
/// connections.
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
    /// The versions of the files when they were read.
    var read: [FileVersion?]
    /// The versions of the last poll. If they differ between two polls, a file may still be being written.
    var seen: [FileVersion?]
  }

  static let reloads = "attribution_tls_reloads_total"
  static let expiry = "attribution_tls_certificate_expiry_timestamp_seconds"

  private let settings: ListenerTLS
  /// `public` or `internal`.
  private let listener: String
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let state: Mutex<State>

  /// Throws ``ConfigurationError`` if the files are invalid.
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
      state = Mutex(State(context: context, read: versions, seen: versions))
      metrics.set(Self.expiry, Double(end), [listener])
    } catch {
      throw ConfigurationError(variable, error.description)
    }
  }

  var context: NIOSSLContext { state.withLock { $0.context } }

  /// Reloads the files. Invalid files are logged and counted, and change nothing else.
  func reload() {
    let versions = Self.versions(settings)
    do throws(TLSFault) {
      let (context, end) = try Self.context(settings)
      state.withLock { $0 = State(context: context, read: versions, seen: versions) }
      metrics.add(Self.reloads, 1, [listener, "applied"])
      metrics.set(Self.expiry, Double(end), [listener])
      logger.notice("the certificate was reloaded", metadata: ["listener": "\(listener)"])
    } catch {
      state.withLock {
        $0.read = versions
        $0.seen = versions
      }
      metrics.add(Self.reloads, 1, [listener, "refused"])
      logger.error(
        "the changed certificate was refused; the previous one stays in use", metadata: ["listener": "\(listener)", "reason": "\(error)"])
    }
  }

  /// Reloads the files if they have changed since they were read and have not changed since the last poll.
  func reloadIfChanged() {
    let versions = Self.versions(settings)
    let isDue = state.withLock { state in
      let isDue = versions != state.read && versions == state.seen
      state.seen = versions
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
      throw TLSFault("\(settings.certificateFile) holds no certificate in PEM form")
    }
    guard let own = chain.first else { throw TLSFault("\(settings.certificateFile) holds no certificate in PEM form") }
    let end = Int(own.notValidAfter)
    guard end > time(nil) else { throw TLSFault("the certificate in \(settings.certificateFile) has expired") }
    let key: NIOSSLPrivateKey
    let bytes: [UInt8]
    do throws(KeyFileError) { bytes = try PrivateFile.bytes(settings.keyFile) } catch { throw TLSFault("\(error)") }
    do { key = try NIOSSLPrivateKey(bytes: bytes, format: .pem) } catch {
      throw TLSFault("\(settings.keyFile) holds no unencrypted private key in PEM form")
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2", "http/1.1"]
    if let file = settings.clientCAFile {
      guard let anchors = try? NIOSSLCertificate.fromPEMFile(file), !anchors.isEmpty else {
        throw TLSFault("\(file) holds no certificate in PEM form")
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

/// A fault in a listener's files.
private struct TLSFault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
