/// The syntax of tokens, such as methods and names of header fields (RFC 9110 section 5.6.2).
enum HTTPToken {
  private static let marks = Set("!#$%&'*+-.^_`|~".utf8)

  static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: marks.contains(byte)
        }
      }
  }
}
