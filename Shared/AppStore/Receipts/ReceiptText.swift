import Cryptography
import WireJSON

/// Reads the text of a receipt as leniently as the senders' mistakes need, because the ids in it are only looked up. It may be Base64 with
/// either alphabet, with or without padding, in lines or in quotes, with blanks in place of `+` as a form decoder leaves them, with escapes
/// of a URL or of JSON, or encoded twice; or it is no Base64 at all, but a JWS or a text in braces.
enum ReceiptText {
  enum Content {
    /// The payload of a JWS, which is not verified.
    case payload(JSONObject)
    /// A text in braces: a property list or JSON.
    case text(String)
    case bytes([UInt8])
  }

  /// How often a text may be encoded.
  private static let maxEncodings = 4

  /// The possible contents of a text; empty if it is not Base64.
  static func contents(_ text: String) -> [Content] {
    // A byte order mark says nothing.
    let bytes = Array(text.utf8)
    return contents(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...], encodings: 1)
  }

  private static func contents(_ text: ArraySlice<UInt8>, encodings: Int) -> [Content] {
    let inner = trimmed(text)
    if inner.first(where: { !isSpace($0) }) == UInt8(ascii: "{") { return [.text(String(decoding: inner, as: UTF8.self))] }
    if let payload = payload(ofJWS: inner) { return [.payload(payload)] }
    // A blank is a lost plus sign, or separates lines.
    let blanks: [UInt8?] = inner.contains(UInt8(ascii: " ")) ? [UInt8(ascii: "-"), nil] : [nil]
    return blanks.compactMap { decoded(inner, blank: $0) }.flatMap { bytes -> [Content] in
      guard encodings < maxEncodings, bytes.allSatisfy({ (32..<127).contains($0) || isSpace($0) }) else { return [.bytes(bytes)] }
      let contents = contents(bytes[...], encodings: encodings + 1)
      return contents.isEmpty ? [.bytes(bytes)] : contents
    }
  }

  /// The payload of a compact JWS, which is not verified; nil for another text.
  static func payload(ofJWS text: String) -> JSONObject? { payload(ofJWS: Array(text.utf8)[...]) }

  private static func payload(ofJWS text: ArraySlice<UInt8>) -> JSONObject? {
    let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = decoded(parts[1], blank: nil) else { return nil }
    return try? JSONValue(parsing: bytes).objectValue
  }

  /// The text without quotes and line breaks at its ends.
  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || (9...13).contains(byte) }
    var inner = text.drop(while: isEnd)
    while let last = inner.last, isEnd(last) { inner.removeLast() }
    return inner
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }

  /// The bytes of a Base64 text; nil for another text.
  ///
  /// - Parameter blank: the character of the URL alphabet that a blank stands for; nil if blanks are left out.
  private static func decoded(_ text: ArraySlice<UInt8>, blank: UInt8?) -> [UInt8]? {
    var unified: [UInt8] = []
    unified.reserveCapacity(text.count)
    var isPadded = false
    var index = text.startIndex
    while index < text.endIndex {
      var byte = text[index]
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 2 <= text.endIndex, let code = UInt8(String(decoding: text[index..<index + 2], as: UTF8.self), radix: 16) else {
          return nil
        }
        byte = code
        index += 2
      } else if byte == UInt8(ascii: "\\") {
        guard index < text.endIndex else { return nil }
        // The escapes of a slash and of line breaks in JSON.
        guard text[index] == UInt8(ascii: "/") || text[index] == UInt8(ascii: "n") || text[index] == UInt8(ascii: "r") else { return nil }
        byte = text[index] == UInt8(ascii: "/") ? UInt8(ascii: "/") : 10
        index += 1
      }
      switch byte {
      case UInt8(ascii: "="):
        isPadded = true
        continue
      case 9...13: continue
      case UInt8(ascii: " "):
        guard !isPadded, let blank else { continue }
        byte = blank
      case UInt8(ascii: "+"): byte = UInt8(ascii: "-")
      case UInt8(ascii: "/"): byte = UInt8(ascii: "_")
      default: break
      }
      guard !isPadded else { return nil }
      unified.append(byte)
    }
    return Base64.decodeURL(String(decoding: unified, as: UTF8.self))
  }
}
