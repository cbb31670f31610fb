/// A file that only its owner may read, who must be this process's user or root.
public enum PrivateFile {
  /// The whole file. Throws ``KeyFileError`` as for signing keys: missing, readable by others, too large.
  public static func bytes(_ path: String) throws(KeyFileError) -> [UInt8] {
    try OwnerOnlyFile.read(path).withBytes { (bytes) throws(KeyFileError) in Array(bytes) }
  }

  /// The file's first line without its end, for a password or a token. Throws ``KeyFileError`` as above, and if the line is empty.
  public static func firstLine(_ path: String) throws(KeyFileError) -> String {
    try OwnerOnlyFile.firstLine(path).withBytes { (bytes) throws(KeyFileError) in String(decoding: bytes, as: UTF8.self) }
  }
}
