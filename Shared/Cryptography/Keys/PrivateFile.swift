/// A file that only its owner may read. The owner must be this process's user or root. ``OwnerOnlyFile`` has the exact rules.
public enum PrivateFile {
  /// The whole file. The rules are those for signing keys: a file that is missing, readable by others or too large is refused.
  public static func bytes(_ path: String) throws(KeyFileError) -> [UInt8] {
    try OwnerOnlyFile.read(path).withBytes { (bytes) throws(KeyFileError) in Array(bytes) }
  }

  /// The file's first line without its line end, for a password or a token. An empty line is refused too.
  public static func firstLine(_ path: String) throws(KeyFileError) -> String {
    try OwnerOnlyFile.firstLine(path).withBytes { (bytes) throws(KeyFileError) in String(decoding: bytes, as: UTF8.self) }
  }
}
