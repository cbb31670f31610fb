import COpenSSL

#if canImport(Glibc)
  import Glibc
#endif

/// A file of a secret: only its owner may read it, and the owner is this process's user or root.
///
/// Kubernetes mounts a Secret as root's and gives it to a process that is not root through the pod's group (`fsGroup`), readable by
/// that group. Such a file is accepted too, see ``isSharedByRoot(owner:group:mode:user:groups:)``.
enum OwnerOnlyFile {
  /// What a key with any comment around it stays far below.
  static let largestKey = 65_536

  /// Reads the whole file. A symbolic link is followed, since Kubernetes mounts secrets as such; what counts is the file it
  /// leads to.
  static func read(_ path: String, atMost limit: Int = largestKey) throws(KeyFileError) -> Secret {
    // A path with a zero byte would be cut there.
    guard !path.utf8.contains(0) else { throw .unreadable(path: path, reason: "its name holds a zero byte") }
    // Opened once and looked at through the descriptor, so that the file that is checked is the one that is read. Without
    // blocking, since opening a pipe would wait for its writer.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else {
      let code = errno
      throw code == ENOENT ? .absent(path: path) : .unreadable(path: path, reason: reason(code))
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unreadable(path: path, reason: reason(errno)) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .unreadable(path: path, reason: "is a directory")
    default: throw .unreadable(path: path, reason: "is no regular file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw .ownedByAnother(path: path, owner: status.st_uid)
    }
    let mode = UInt32(status.st_mode & 0o777)
    guard mode & 0o077 == 0 || isSharedByRoot(status) else { throw .readableByOthers(path: path, mode: mode) }
    guard status.st_size > 0 else { throw .unreadable(path: path, reason: "is empty") }
    guard status.st_size <= limit else { throw .unreadable(path: path, reason: "is too large (\(status.st_size) bytes)") }
    return try Secret(capacity: Int(status.st_size)) { (room) throws(KeyFileError) in
      var done = 0
      while done < room.count {
        let count = Glibc.read(file, room.baseAddress! + done, room.count - done)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw .unreadable(path: path, reason: reason(errno)) }
        if count == 0 { break }
        done += count
      }
      return done
    }
  }

  private static func isSharedByRoot(_ status: stat) -> Bool {
    var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
    let count = getgroups(Int32(groups.count), &groups)
    return isSharedByRoot(
      owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o777, user: geteuid(),
      groups: [getegid()] + groups.prefix(Int(max(0, count))))
  }

  /// Whether root owns the file and lets this process read it through one of the process's own groups. The group may not write, others may
  /// do nothing. A process that is root itself needs no group.
  static func isSharedByRoot(owner: uid_t, group: gid_t, mode: mode_t, user: uid_t, groups: [gid_t]) -> Bool {
    user != 0 && owner == 0 && mode & 0o037 == 0 && groups.contains(group)
  }

  /// Reads a passphrase or PIN: the file's first line without its end.
  static func firstLine(_ path: String) throws(KeyFileError) -> Secret {
    let whole = try read(path, atMost: 4096)
    return try whole.withBytes { (bytes) throws(KeyFileError) in
      var line = UnsafeRawBufferPointer(rebasing: bytes.prefix { $0 != UInt8(ascii: "\n") })
      if line.last == UInt8(ascii: "\r") { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
      guard !line.isEmpty else { throw .unreadable(path: path, reason: "its first line is empty") }
      guard !line.contains(0) else { throw .unreadable(path: path, reason: "holds a zero byte") }
      guard line.count <= longestPassphrase else { throw .unreadable(path: path, reason: "its first line is too long") }
      return Secret(capacity: line.count) { (room) throws(Never) in
        room.copyMemory(from: line)
        return line.count
      }
    }
  }

  /// OpenSSL cuts a longer one without a word.
  static let longestPassphrase = 1023

  /// Makes a file that must not exist yet, for its owner only, and brings it to the disk before it returns.
  static func create(_ path: String, holding bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    guard !path.utf8.contains(0) else { throw .notWritten(path: path, reason: "its name holds a zero byte") }
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      let code = errno
      throw code == EEXIST ? .exists(path: path) : .notWritten(path: path, reason: reason(code))
    }
    defer { close(file) }
    do throws(KeyFileError) {
      // The umask may have taken the owner's own rights.
      guard fchmod(file, 0o600) == 0 else { throw .notWritten(path: path, reason: reason(errno)) }
      var done = 0
      while done < bytes.count {
        let count = write(file, bytes.baseAddress! + done, bytes.count - done)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw .notWritten(path: path, reason: reason(errno)) }
        done += count
      }
      guard fsync(file) == 0 else { throw .notWritten(path: path, reason: reason(errno)) }
      try syncFolder(of: path)
    } catch {
      // Half a key would be in the way of the next attempt.
      unlink(path)
      throw error
    }
  }

  /// The file's name is on the disk only when its folder is.
  private static func syncFolder(of path: String) throws(KeyFileError) {
    let cut = path.lastIndex(of: "/")
    let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .notWritten(path: path, reason: reason(errno)) }
    defer { close(descriptor) }
    // Some file systems cannot do this for a folder and say so.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw .notWritten(path: path, reason: reason(errno)) }
  }

  private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
