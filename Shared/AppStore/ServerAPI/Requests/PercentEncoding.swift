/// Percent-encodes path segments and queries (RFC 3986). Only unreserved characters are kept as they are.
enum PercentEncoding {
  /// Encodes a path segment, or a name or value of a query.
  static func encode(_ text: String) -> String {
    // A segment `.` or `..` would be interpreted as a relative path.
    if text == "." || text == ".." { return String(repeating: "%2E", count: text.utf8.count) }
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A query such as `?a=1&b=2`; empty without items.
  static func query(_ items: [(String, String)]) -> String {
    items.isEmpty ? "" : "?" + items.map { encode($0) + "=" + encode($1) }.joined(separator: "&")
  }
}
