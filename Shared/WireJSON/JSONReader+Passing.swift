extension JSONReader {
  /// Skips a value. This costs much less than ``skipValue()``, because it checks only syntax, depth and the number of values. It does not
  /// detect repeated names, and does not check UTF-8; ``isUTF8`` checks the whole text.
  public mutating func passValue() throws(JSONError) {
    let startDepth = depth
    while true {
      skipSpace()
      guard position < bytes.count else { throw syntax("the text ends early") }
      switch bytes[position] {
      case UInt8(ascii: "{"):
        try enterPassing()
        if try closes(UInt8(ascii: "}")) { break }
        try passName()
        continue
      case UInt8(ascii: "["):
        try enterPassing()
        if try closes(UInt8(ascii: "]")) { break }
        continue
      case UInt8(ascii: "\""):
        try count()
        try passString()
      case UInt8(ascii: "t"):
        try count()
        try literal("true")
      case UInt8(ascii: "f"):
        try count()
        try literal("false")
      case UInt8(ascii: "n"):
        try count()
        try literal("null")
      case UInt8(ascii: "-"), 48...57:
        try count()
        try passNumber()
      default: throw syntax("unexpected character")
      }
      // After a value, continues with the next value of the same object or array, and leaves every object and array that ends here.
      while depth > startDepth {
        skipSpace()
        guard position < bytes.count else { throw syntax("the text ends early") }
        let inObject = isObject & (1 << UInt64(depth - 1)) != 0
        if bytes[position] == UInt8(ascii: ",") {
          position += 1
          if inObject { try passName() }
          break
        }
        guard bytes[position] == (inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw syntax("a comma is missing") }
        position += 1
        depth -= 1
      }
      if depth == startDepth { return }
    }
  }

  /// A reader of the same text that begins at `position`, at which a value must begin. It counts values and depth from zero.
  public func moved(to position: Int) -> JSONReader {
    var reader = JSONReader(bytes, limits: limits)
    reader.position = position
    return reader
  }

  /// True if the whole text is UTF-8.
  public var isUTF8: Bool {
    bytes.withUnsafeBufferPointer { buffer in
      // Most texts are ASCII, which is checked eight bytes at a time.
      var offset = 0
      let raw = UnsafeRawBufferPointer(buffer)
      while offset + 8 <= raw.count, raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 { offset += 8 }
      return offset + 8 > raw.count && raw[offset...].allSatisfy { $0 < 0x80 } || String(validating: buffer, as: UTF8.self) != nil
    }
  }

  /// Consumes the first byte of an object or array.
  private mutating func enterPassing() throws(JSONError) {
    try count()
    let bit: UInt64 = 1 << UInt64(depth)
    if bytes[position] == UInt8(ascii: "{") { isObject |= bit } else { isObject &= ~bit }
    position += 1
    depth += 1
    guard depth <= limits.depth else { throw JSONError(.tooDeep(limit: limits.depth)) }
  }

  /// If the object or array that was just entered is empty, leaves it and returns true.
  private mutating func closes(_ byte: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard position < bytes.count else { throw syntax("the text ends early") }
    guard bytes[position] == byte else { return false }
    position += 1
    depth -= 1
    return true
  }

  private mutating func passName() throws(JSONError) {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw syntax("a name in quotes is missing") }
    try passString()
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { throw syntax("a colon is missing") }
    position += 1
  }

  private mutating func passString() throws(JSONError) {
    position += 1
    while true {
      position = bytes.withUnsafeBufferPointer { PlainBytes.skip($0, from: position) }
      guard position < bytes.count else { break }
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        return
      case UInt8(ascii: "\\"):
        position += 1
        try passEscape()
      case 0..<0x20: throw syntax("a control character inside a string")
      default: position += 1
      }
    }
    throw syntax("a string without its end")
  }

  private mutating func passEscape() throws(JSONError) {
    guard position < bytes.count else { throw syntax("a string without its end") }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
      UInt8(ascii: "r"), UInt8(ascii: "t"):
      return
    case UInt8(ascii: "u"):
      let code = try scanHex()
      if (0xDC00...0xDFFF).contains(code) { throw syntax("a lone surrogate") }
      guard (0xD800...0xDBFF).contains(code) else { return }
      guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u") else {
        throw syntax("a lone surrogate")
      }
      position += 2
      guard (0xDC00...0xDFFF).contains(try scanHex()) else { throw syntax("a lone surrogate") }
    default: throw syntax("unknown escape")
    }
  }

  /// Checks the number whose first byte is at the position. Moves the position past the number.
  mutating func passNumber() throws(JSONError) {
    func isDigit(_ index: Int) -> Bool { index < bytes.count && (48...57).contains(bytes[index]) }
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    guard isDigit(position) else { throw syntax("a digit is missing") }
    if bytes[position] == 48 { position += 1 } else { scanDigits() }
    if isDigit(position) { throw syntax("a number starts with zero") }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      guard isDigit(position) else { throw syntax("a digit is missing") }
      scanDigits()
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") { position += 1 }
      guard isDigit(position) else { throw syntax("a digit is missing") }
      scanDigits()
    }
  }
}
