import Cryptography
import Glibc
import ServiceRuntime
import Synchronization
import WireJSON

/// The audit log: which caller had what signed, with which key and when. Each signature is a JSON object on a line of a file; of the signed
/// message it contains only the SHA-256.
///
/// A signature that cannot be recorded is not returned, because an incomplete log proves nothing.
final class AuditLog: Sendable {
  /// The path of the file; `-` for standard output.
  private let path: String
  private let file: Mutex<OpenFile>

  private struct OpenFile {
    var descriptor: Int32
    /// True if the file ends inside a line, because a record was written only partly.
    var endsInsideLine = false
  }

  /// Opens the file for appending. A new file is readable only by its owner.
  init(path: String) throws(ConfigurationError) {
    self.path = path
    file = Mutex(OpenFile(descriptor: try Self.open(path)))
  }

  /// Opens the path again, because a log rotation may have moved the file, and makes a further change. If either fails, nothing is changed.
  func reopen(with change: () throws(ConfigurationError) -> Void) throws(ConfigurationError) {
    guard path != "-" else { return try change() }
    let next = try Self.open(path)
    do throws(ConfigurationError) { try change() } catch {
      close(next)
      throw error
    }
    let previous = file.withLock { file in
      let previous = file
      file = OpenFile(descriptor: next)
      return previous
    }
    close(previous.descriptor)
  }

  /// Writes one record. Each record is one `write` to a file that is open for appending, so the records of several threads and processes do
  /// not mix.
  func record(_ method: SignatureMethod, _ identity: SigningIdentity, message: [UInt8], context: RPCContext, now: Int64)
    throws(SignatureError)
  {
    var writer = JSONWriter(reserving: 384)
    writer.beginObject()
    writer.key("time")
    writer.int(now)
    writer.key("caller")
    writer.string(context.caller)
    writer.key("requestId")
    writer.string(context.requestId)
    writer.key("method")
    writer.string(method.name)
    writer.key("owner")
    writer.string(identity.owner)
    writer.key("keyId")
    writer.string(identity.keyId)
    writer.key("sha256")
    writer.string(Hex.encode(SHA256Digest.hash(message)))
    writer.endObject()
    let record = writer.bytes + [UInt8(ascii: "\n")]
    let failure: Int32? = file.withLock { file in
      let line = file.endsInsideLine ? [UInt8(ascii: "\n")] + record : record
      while true {
        let written = write(file.descriptor, line, line.count)
        if written == line.count {
          file.endsInsideLine = false
          return nil
        }
        // A partial write means that the disk is full. The record is incomplete, so the signature is refused; the next record begins a new
        // line.
        if written >= 0 {
          file.endsInsideLine = file.endsInsideLine || written > 0
          return ENOSPC
        }
        if errno != EINTR { return errno }
      }
    }
    if let failure { throw .notRecorded("the audit file \(path) cannot be written: \(String(cString: strerror(failure)))") }
  }

  private static func open(_ path: String) throws(ConfigurationError) -> Int32 {
    if path == "-" { return STDOUT_FILENO }
    let file = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw ConfigurationError(
        "ATTRIBUTION_AUDIT_FILE", "\(path) cannot be opened for writing: \(String(cString: strerror(errno)))")
    }
    return file
  }

  deinit {
    let descriptor = file.withLock { $0.descriptor }
    if descriptor != STDOUT_FILENO { close(descriptor) }
  }
}
