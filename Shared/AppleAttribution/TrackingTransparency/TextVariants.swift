/// A text as written, and the same text with its encoded characters decoded: `%2D` of URLs, and `\u002D` of JSON.
struct TextVariants {
  /// The bytes of the text, then of each further decoding. Each variant differs from the previous one.
  let variants: [[UInt8]]

  /// True if the text may have encoded characters. If not, it has one variant.
  static func hasEncodedCharacters(_ text: some Sequence<UInt8>) -> Bool {
    func areAny(_ bytes: some Sequence<UInt8>) -> Bool { bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") } }
    return text.withContiguousStorageIfAvailable { areAny($0) } ?? areAny(text)
  }

  init(_ text: String) {
    var variants = [Array(text.utf8)]
    // A link within a link is encoded twice. Three decodings are enough for this, and limit the work.
    for _ in 0..<3 {
      guard let next = Self.decoded(variants[variants.count - 1]) else { break }
      variants.append(next)
    }
    self.variants = variants
  }

  /// Each variant folded.
  var folded: [[UInt8]] { variants.map { Self.folded($0) } }

  /// The letters and digits of a text, in lower case, so an identifier matches whatever its case and with or without hyphens and
  /// underscores. Only ASCII letters change case. Bytes outside ASCII are kept unchanged; otherwise all names in Greek would be empty.
  static func folded(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.underestimatedCount)
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: result.append(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): result.append(byte | 0x20)
      default: break
      }
    }
    return result
  }

  /// The bytes with their encoded characters decoded once; nil if nothing is encoded.
  private static func decoded(_ bytes: [UInt8]) -> [UInt8]? {
    guard hasEncodedCharacters(bytes) else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    var changed = false
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), let value = number(bytes, index + 1, 2) {
        result.append(UInt8(value))
        index += 3
        changed = true
      } else if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "u"),
        let value = number(bytes, index + 2, 4), value < 0x80
      {
        result.append(UInt8(value))
        index += 6
        changed = true
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return changed ? result : nil
  }

  /// The value of `count` hexadecimal digits from `start` on; nil if they are not hexadecimal digits.
  private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
    guard start + count <= bytes.count else { return nil }
    var value = 0
    for byte in bytes[start..<start + count] {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | Int(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | Int(byte - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | Int(byte - UInt8(ascii: "A") + 10)
      default: return nil
      }
    }
    return value
  }
}
