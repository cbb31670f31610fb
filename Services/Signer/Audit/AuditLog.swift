import Cryptography
import Glibc
import ServiceRuntime
import Synchronization
import WireJSON

/// Who had what signed, with which key and when, one JSON object a line. What was signed stands there as its digest alone.
///
/// A signature that cannot be recorded is not handed out: a record with holes proves nothing.
final class AuditLog: Sendable {
  /// `-` for standard output.
  private let path: String
  private let file: Mutex<Int32>

  /// Opens the file for appending, for its owner only where it is new.
  init(path: String) throws(ConfigurationError) {
    self.path = path
    file = Mutex(try Self.open(path))
  }

  /// Opens the path anew: after a rotation has moved the file away.
  func reopen() throws(ConfigurationError) {
    guard path != "-" else { return }
    let next = try Self.open(path)
    let last = file.withLock { file in
      let last = file
      file = next
      return last
    }
    close(last)
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
    let line = writer.bytes + [UInt8(ascii: "\n")]
    let failure: Int32? = file.withLock { file in
      while true {
        let written = write(file, line, line.count)
        if written == line.count { return nil }
        // A part of a line means a full disk: what was to come is refused, and the next line begins a new one.
        if written >= 0 { return ENOSPC }
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
    let file = file.withLock { $0 }
    if file != STDOUT_FILENO { close(file) }
  }
}
