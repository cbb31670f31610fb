#if canImport(Glibc)
  import Glibc
#endif

/// Replaces files atomically: if the process ends early, the old file or the whole new one is there.
enum StoredFile {
  /// Writes a temporary file in the same folder and renames it.
  static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = 0o644) throws(CommandFailure) {
    let temporaryPath = path + ".new"
    unlink(temporaryPath)
    let descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw writeFailure(path) }
    defer { close(descriptor) }
    try write(bytes, to: descriptor, path: path)
    guard fsync(descriptor) == 0, rename(temporaryPath, path) == 0 else { throw writeFailure(path) }
  }

  /// Deletes a file if it exists.
  static func remove(_ path: String) { unlink(path) }

  /// - Parameter path: names the file in the failure.
  static func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(CommandFailure) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw writeFailure(path) }
      written += count
    }
  }

  /// The failure for the current `errno`.
  static func writeFailure(_ path: String) -> CommandFailure {
    CommandFailure(.cannotWrite, "\(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}
