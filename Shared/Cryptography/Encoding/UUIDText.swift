/// The text form of a UUID.
public enum UUIDText {
  /// True for 32 hexadecimal digits in either case with hyphens between the groups.
  public static func isValid(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 36 else { return false }
    return bytes.indices.allSatisfy { index in
      if [8, 13, 18, 23].contains(index) { return bytes[index] == UInt8(ascii: "-") }
      return (48...57).contains(bytes[index]) || (65...70).contains(bytes[index]) || (97...102).contains(bytes[index])
    }
  }
}
