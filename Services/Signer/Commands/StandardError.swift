import Glibc

/// Text for people, apart from what a command prints for programs.
struct StandardError: TextOutputStream {
  mutating func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
