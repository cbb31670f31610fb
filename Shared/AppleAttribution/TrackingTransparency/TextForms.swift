/// A text as written, and with its encoded characters decoded: `%2D`, and JSON's `\\u002D`.
struct TextForms {
  /// The bytes of each form. Each form differs from the previous one.
  let forms: [[UInt8]]

  init(_ text: String) {
    var forms = [Array(text.utf8)]
    // A link within a link is encoded twice. Deeper nesting does not occur.
    for _ in 0..<3 {
      guard let next = Self.decoded(forms[forms.count - 1]) else { break }
      forms.append(next)
    }
    self.forms = forms
  }

  /// The letters and digits of each form.
  var folded: [[UInt8]] { forms.map { Self.folded($0) } }

  /// Lower-case letters and digits only, so that an identifier or a name matches in any spelling. Letters of other scripts are kept, so
  /// that different names in Greek are not both empty.
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

  /// Nil if nothing is encoded.
  private static func decoded(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") }) else { return nil }
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

  /// The value of that many hexadecimal digits.
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
