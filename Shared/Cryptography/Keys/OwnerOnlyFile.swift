import COpenSSL

#if canImport(Glibc)
  import Glibc
#endif

/// A file with a secret. Only its owner may read it, and the owner must be this process's user or root.
///
/// Kubernetes mounts a Secret with owner root and makes it readable for a process of another user through the pod's group (`fsGroup`). Such
/// a file is accepted too, see ``isSharedByRoot(owner:group:mode:user:groups:)``.
enum OwnerOnlyFile {
  /// The greatest size of a key file in bytes, far above any key with comments.
  static let maxKeyBytes = 65_536

  /// Reads the whole file. A symbolic link is followed, because Kubernetes mounts secrets as links, and the link's target is checked.
  static func read(_ path: String, atMost limit: Int = maxKeyBytes) throws(KeyFileError) -> Secret {
    // C functions read a path only up to a zero byte.
    guard !path.utf8.contains(0) else { throw .unreadable(path: path, reason: "its path contains a zero byte") }
    // The file is opened before it is checked, so that the checked file is the one that is read. It is opened without blocking, because
    // opening a pipe would wait for its writer.
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
    default: throw .unreadable(path: path, reason: "is not a regular file")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw .ownedByAnother(path: path, owner: status.st_uid)
    }
    let mode = UInt32(status.st_mode & 0o777)
    guard mode & 0o077 == 0 || isSharedByRoot(status) else { throw .readableByOthers(path: path, mode: mode) }
    guard status.st_size > 0 else { throw .unreadable(path: path, reason: "is empty") }
    guard status.st_size <= limit else { throw .unreadable(path: path, reason: "is too large (\(status.st_size) bytes)") }
    return try Secret(capacity: Int(status.st_size)) { (buffer) throws(KeyFileError) in
      var done = 0
      while done < buffer.count {
        let count = Glibc.read(file, buffer.baseAddress! + done, buffer.count - done)
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

  /// True if root owns the file, this process may read it through one of its groups, the group may not write, and other users have no
  /// access. False for a process of root, which needs no group.
  static func isSharedByRoot(owner: uid_t, group: gid_t, mode: mode_t, user: uid_t, groups: [gid_t]) -> Bool {
    user != 0 && owner == 0 && mode & 0o037 == 0 && groups.contains(group)
  }

  /// Reads a passphrase or PIN: the file's first line without its line end.
  static func firstLine(_ path: String) throws(KeyFileError) -> Secret {
    let whole = try read(path, atMost: 4096)
    return try whole.withBytes { (bytes) throws(KeyFileError) in
      var line = UnsafeRawBufferPointer(rebasing: bytes.prefix { $0 != UInt8(ascii: "\n") })
      if line.last == UInt8(ascii: "\r") { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
      guard !line.isEmpty else { throw .unreadable(path: path, reason: "its first line is empty") }
      guard !line.contains(0) else { throw .unreadable(path: path, reason: "its first line contains a zero byte") }
      guard line.count <= maxPassphraseBytes else { throw .unreadable(path: path, reason: "its first line is too long") }
      return Secret(capacity: line.count) { (buffer) throws(Never) in
        buffer.copyMemory(from: line)
        return line.count
      }
    }
  }

  /// The longest passphrase or PIN in bytes. OpenSSL truncates longer ones without an error.
  static let maxPassphraseBytes = 1023

  /// Creates a file that only its owner may access, which must not exist yet, and syncs it to disk.
  static func create(_ path: String, holding bytes: UnsafeRawBufferPointer) throws(KeyFileError) {
    guard !path.utf8.contains(0) else { throw .notWritten(path: path, reason: "its path contains a zero byte") }
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      let code = errno
      throw code == EEXIST ? .exists(path: path) : .notWritten(path: path, reason: reason(code))
    }
    defer { close(file) }
    do throws(KeyFileError) {
      // The umask may have removed the owner's permissions.
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
      // A partial file would make the next attempt fail, because the file would exist already.
      unlink(path)
      throw error
    }
  }

  /// Syncs the folder, because only then is the file's name on disk.
  private static func syncFolder(of path: String) throws(KeyFileError) {
    let cut = path.lastIndex(of: "/")
    let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .notWritten(path: path, reason: reason(errno)) }
    defer { close(descriptor) }
    // Some file systems cannot sync folders and return EINVAL.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw .notWritten(path: path, reason: reason(errno)) }
  }

  private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
