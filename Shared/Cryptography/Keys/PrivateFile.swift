/// A file that only its owner may read: this process's user or root.
public enum PrivateFile {
  /// The whole file, for what reads keys by itself. Throws ``KeyFileError`` as for signing keys: absent, open to others, too large.
  public static func bytes(_ path: String) throws(KeyFileError) -> [UInt8] {
    try OwnerOnlyFile.read(path).withBytes { (bytes) throws(KeyFileError) in Array(bytes) }
  }
}
