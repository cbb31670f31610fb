#if canImport(Glibc)
  import Glibc
#endif

/// What a command reads: a file, or standard input where it is `-`.
struct InputFile: ~Copyable {
  /// One input that is read as a whole is no larger.
  static let most = 64 << 20

  let path: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var hasEnded = false
  /// Whether the last line was handed out as it stood, and not empty because it was too long.
  private(set) var lineWasWhole = true
  /// Bytes that were handed out as lines, their ends included.
  private(set) var offset: Int64

  /// - Parameter offset: where reading begins.
  init(_ path: String, from offset: Int64 = 0) throws(CommandFailure) {
    self.path = path
    self.offset = offset
    if path == "-" {
      descriptor = STDIN_FILENO
      return
    }
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailure(.noInput, "\(path) cannot be read: \(String(cString: strerror(errno)))") }
    if offset > 0, lseek(descriptor, off_t(offset), SEEK_SET) < 0 { throw CommandFailure(.noInput, "\(path) is shorter than it was") }
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// Bytes of the file; nil of what has no size.
  var size: Int64? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Everything that is left.
  mutating func rest() throws(CommandFailure) -> [UInt8] {
    while try fill() {
      guard buffer.count <= Self.most else { throw CommandFailure(.refusedInput, "\(path) is larger than \(Self.most >> 20) MiB") }
    }
    defer { buffer = [] }
    return buffer
  }

  /// The first bytes, at the most so many.
  mutating func prefix(_ most: Int) throws(CommandFailure) -> [UInt8] {
    while buffer.count < most, try fill() {}
    return Array(buffer.prefix(most))
  }

  /// The next line without its end; nil behind the last. One that is longer than `most` is answered empty, and passed.
  mutating func line(most: Int) throws(CommandFailure) -> [UInt8]? {
    var (looked, isTooLong) = (0, false)
    while true {
      if let end = buffer[looked...].firstIndex(of: 10) {
        lineWasWhole = !isTooLong
        let line = isTooLong ? [] : Array(buffer[..<end])
        offset += Int64(end + 1)
        buffer.removeSubrange(...end)
        return line
      }
      looked = buffer.count
      if looked > most {
        isTooLong = true
        offset += Int64(looked)
        buffer.removeAll(keepingCapacity: true)
        looked = 0
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
