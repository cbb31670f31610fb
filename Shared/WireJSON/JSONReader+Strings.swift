extension JSONReader {
  /// The content of the string whose opening quote is at the position. Moves the position past the closing quote.
  mutating func scanString() throws(JSONError) -> String {
    position += 1
    let start = position
    var end = start
    let text: String? = bytes.withUnsafeBufferPointer { bytes in
      // All bytes combined, to find out whether they are ASCII.
      var all: UInt8 = 0
      end = PlainBytes.skip(bytes, from: end)
      while end < bytes.count, bytes[end] != UInt8(ascii: "\""), bytes[end] != UInt8(ascii: "\\"), bytes[end] >= 0x20 {
        all |= bytes[end]
        end += 1
      }
      guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
      let content = UnsafeBufferPointer(rebasing: bytes[start..<end])
      return all < 0x80 ? String(decoding: content, as: UTF8.self) : String(validating: content, as: UTF8.self)
    }
    position = end
    if let text {
      position += 1
      return text
    }
    guard position < bytes.count else { throw syntax("a string without its end") }
    switch bytes[position] {
    case UInt8(ascii: "\""): throw JSONError(.syntax("invalid UTF-8", offset: start))
    case UInt8(ascii: "\\"): return try scanEscapedString(from: start)
    default: throw syntax("a control character inside a string")
    }
  }

  /// The content of a string whose first escape is at the position.
  private mutating func scanEscapedString(from start: Int) throws(JSONError) -> String {
    var buffer = Array(bytes[start..<position])
    while position < bytes.count {
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: buffer, as: UTF8.self) else { throw JSONError(.syntax("invalid UTF-8", offset: start)) }
        position += 1
        return text
      case UInt8(ascii: "\\"):
        position += 1
        guard position < bytes.count else { throw syntax("a string without its end") }
        try scanEscape(into: &buffer)
      case 0..<0x20: throw syntax("a control character inside a string")
      default:
        buffer.append(byte)
        position += 1
      }
    }
    throw syntax("a string without its end")
  }

  /// Appends the character of an escape. The position is after the backslash.
  private mutating func scanEscape(into buffer: inout [UInt8]) throws(JSONError) {
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
    case UInt8(ascii: "b"): buffer.append(0x08)
    case UInt8(ascii: "f"): buffer.append(0x0C)
    case UInt8(ascii: "n"): buffer.append(0x0A)
    case UInt8(ascii: "r"): buffer.append(0x0D)
    case UInt8(ascii: "t"): buffer.append(0x09)
    case UInt8(ascii: "u"):
      var code = try scanHex()
      if (0xDC00...0xDFFF).contains(code) { throw syntax("a lone surrogate") }
      if (0xD800...0xDBFF).contains(code) {
        guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
          bytes[position + 1] == UInt8(ascii: "u")
        else { throw syntax("a lone surrogate") }
        position += 2
        let low = try scanHex()
        guard (0xDC00...0xDFFF).contains(low) else { throw syntax("a lone surrogate") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(code) else { throw syntax("not a character") }
      buffer.append(contentsOf: UTF8.encode(scalar)!)
    default: throw syntax("unknown escape")
    }
  }

  /// The value of four hexadecimal digits.
  mutating func scanHex() throws(JSONError) -> UInt32 {
    guard position + 4 <= bytes.count else { throw syntax("the text ends early") }
    var code: UInt32 = 0
    for _ in 0..<4 {
      let byte = bytes[position]
      switch byte {
      case 48...57: code = code << 4 | UInt32(byte - 48)
      case 65...70, 97...102: code = code << 4 | UInt32((byte | 0x20) - 87)
      default: throw syntax("four hexadecimal digits are missing")
      }
      position += 1
    }
    return code
  }
}
