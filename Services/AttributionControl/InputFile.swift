#if canImport(Glibc)
  import Glibc
#endif

/// The input of a command: a file, or standard input for `-`.
struct InputFile: ~Copyable {
  /// The maximum size in bytes of an input that is read as a whole.
  static let maxBytes = 64 << 20

  let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var hasEnded = false
  /// True if the last line was returned in full; a line that is too long is returned empty.
  private(set) var lineWasWhole = true
  /// The offset in bytes of the first line that has not been returned yet.
  private(set) var offset: Int64

  /// - Parameter offset: The offset in bytes at which reading begins.
  init(_ path: String, from offset: Int64 = 0) throws(CommandFailure) {
    self.path = path
    self.offset = offset
    if path == "-" {
      descriptor = STDIN_FILENO
      return
    }
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailure(.noInput, "\(path) cannot be read: \(String(cString: strerror(errno)))") }
    if offset > 0, lseek(descriptor, off_t(offset), SEEK_SET) < 0 {
      throw CommandFailure(.noInput, "\(path) cannot be read from byte \(offset) on: \(String(cString: strerror(errno)))")
    }
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// The file's size in bytes; nil for a pipe or a terminal.
  var size: Int64? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Reads the bytes up to the end of the input.
  mutating func rest() throws(CommandFailure) -> [UInt8] {
    while try fill() {
      guard buffer.count <= Self.maxBytes else { throw CommandFailure(.refusedInput, "\(path) is larger than \(Self.maxBytes >> 20) MiB") }
    }
    defer { buffer = [] }
    return buffer
  }

  /// Reads the first bytes, at most `limit`.
  mutating func prefix(_ limit: Int) throws(CommandFailure) -> [UInt8] {
    while buffer.count < limit, try fill() {}
    return Array(buffer.prefix(limit))
  }

  /// Reads the next line without its line end; nil after the last. A line longer than `limit` is skipped and returned empty.
  mutating func line(limit: Int) throws(CommandFailure) -> [UInt8]? {
    var (searched, isTooLong) = (0, false)
    while true {
      if let end = buffer[searched...].firstIndex(of: 10) {
        lineWasWhole = !isTooLong
        let line = isTooLong ? [] : Array(buffer[..<end])
        offset += Int64(end + 1)
        buffer.removeSubrange(...end)
        return line
      }
      searched = buffer.count
      if searched > limit {
        isTooLong = true
        offset += Int64(searched)
        buffer.removeAll(keepingCapacity: true)
        searched = 0
      }
      guard try fill() else {
        guard !buffer.isEmpty || isTooLong else { return nil }
        lineWasWhole = !isTooLong
        offset += Int64(buffer.count)
        defer { buffer = [] }
        return isTooLong ? [] : buffer
      }
    }
  }

  /// Appends the next bytes to the buffer. Returns false at the end of the input.
  private mutating func fill() throws(CommandFailure) -> Bool {
    guard !hasEnded else { return false }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw CommandFailure(.noInput, "\(path) cannot be read: \(String(cString: strerror(errno)))") }
      hasEnded = count == 0
      buffer += chunk[..<count]
      return count > 0
    }
  }
}
