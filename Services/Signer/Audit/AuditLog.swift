import Cryptography
import Glibc
import ServiceRuntime
import Synchronization
import WireJSON

/// The audit log: who had what signed, with which key and when, one JSON object a line. Of the signed message it has only a digest.
///
/// A signature that cannot be recorded is not returned, because an incomplete log proves nothing.
final class AuditLog: Sendable {
  /// `-` for standard output.
  private let path: String
  private let file: Mutex<OpenFile>

  private struct OpenFile {
    var descriptor: Int32
    /// True if the last write ended inside a line.
    var isBroken = false
  }

  /// Opens the file for appending. A new file is readable only by its owner.
  init(path: String) throws(ConfigurationError) {
    self.path = path
    file = Mutex(OpenFile(descriptor: try Self.open(path)))
  }

  /// Opens the path again, after a rotation has moved the file, and makes a further change. If either fails, nothing is changed.
  func reopen(with change: () throws(ConfigurationError) -> Void) throws(ConfigurationError) {
    guard path != "-" else { return try change() }
    let next = try Self.open(path)
    do throws(ConfigurationError) { try change() } catch {
      close(next)
      throw error
    }
    let last = file.withLock { file in
      let last = file
      file = OpenFile(descriptor: next)
      return last
    }
    close(last.descriptor)
  }

  /// Writes one record. A record is one write, so records of several threads and processes do not mix.
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
      let line = file.isBroken ? [UInt8(ascii: "\n")] + record : record
      while true {
        let written = write(file.descriptor, line, line.count)
        if written == line.count {
          file.isBroken = false
          return nil
        }
        // A partial line means that the disk is full. This signature is refused, and the next record begins a new line.
        if written >= 0 {
          file.isBroken = file.isBroken || written > 0
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
