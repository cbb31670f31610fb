#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#endif

/// Properties of this process' standard streams.
enum Terminal {
  /// True if colours may be written to the stream: it is a terminal that is not dumb, and the user has not set NO_COLOR (no-color.org).
  static func hasColours(_ descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
    isatty(descriptor) == 1 && allowsColours(environment)
  }

  /// True if the user's environment does not turn colours off.
  static func allowsColours(_ environment: [String: String]) -> Bool {
    if let value = environment["NO_COLOR"], !value.isEmpty { return false }
    return environment["TERM"] != "dumb"
  }

  /// Opens /dev/null for each standard stream that the caller closed. Otherwise its number would be given to the next socket or file, and
  /// messages would be written there. The access mode is the opposite of the stream's, so that using it fails as if it were closed.
  static func occupyClosedStreams() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      // The streams are checked in ascending order, so open() returns the number of the current one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// True if the user can be asked a question: input is typed, and the question is visible even if the output is redirected.
  static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// The number of the terminal's columns; 80 if it is not known.
  static func width(_ descriptor: Int32) -> Int {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
  }
}

/// Standard output, which its reader may close before the command has ended.
enum StandardOutput {
  /// The reader closed the stream, as `head` does. This is not an error, and nothing more must be written.
  struct Closed: Error {}

  static func write(_ text: String) throws { try write(Array(text.utf8)) }

  static func write(_ bytes: [UInt8]) throws {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress! + written, $0.count - written) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        if errno == EPIPE { throw Closed() }
        throw StoredFile.writeFailure("standard output")
      }
      written += count
    }
  }
}
