#if canImport(Glibc)
  import Glibc
#endif

/// Writes messages for users to standard error, separate from a command's output.
public enum StandardError {
  /// Writes the text with one system call, so that texts of several threads do not mix.
  public static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
