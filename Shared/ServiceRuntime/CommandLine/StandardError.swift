#if canImport(Glibc)
  import Glibc
#endif

/// Text for people, apart from what a command prints for programs.
public enum StandardError {
  /// Writes the text in one call, so that lines of several threads do not mix.
  public static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
