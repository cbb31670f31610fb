/// UUIDs as text (RFC 9562, section 4).
public enum UUIDText {
  /// True for 32 hexadecimal digits in either case, with hyphens after the 8th, 12th, 16th and 20th. Any version is accepted.
  public static func isValid(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return false }
    return bytes.indices.allSatisfy { index in
      if [8, 13, 18, 23].contains(index) { return bytes[index] == UInt8(ascii: "-") }
      return (48...57).contains(bytes[index]) || (65...70).contains(bytes[index]) || (97...102).contains(bytes[index])
    }
  }
}
