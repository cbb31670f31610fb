#if canImport(Glibc)
  import Glibc
#endif

/// Writes files atomically: a process that ends early leaves the old file or the new one.
enum StoredFile {
  /// Writes a temporary file in the same folder and renames it.
  static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = 0o644) throws(CommandFailure) {
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw fault(path) }
    defer { close(descriptor) }
    try write(bytes, to: descriptor, path: path)
    guard fsync(descriptor) == 0, rename(draft, path) == 0 else { throw fault(path) }
  }

  /// Deletes a file if it exists.
  static func remove(_ path: String) { unlink(path) }

  static func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(CommandFailure) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw fault(path) }
      written += count
    }
  }

  static func fault(_ path: String) -> CommandFailure {
    CommandFailure(.cannotWrite, "\(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}
