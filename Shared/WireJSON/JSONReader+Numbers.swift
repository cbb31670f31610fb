extension JSONReader {
  /// Reads a number with all its digits.
  mutating func readNumber() throws(JSONError) -> JSONNumber {
    guard try peek() == .number else { throw JSONError(.wrongType(expected: "a number")) }
    try count()
    return JSONNumber(checked: try scanNumber())
  }

  /// Reads a 64-bit integer, as a number or a string of decimal digits. A number may have a fraction of zero or an exponent (`5.0`, `5e2`).
  public mutating func readInt64() throws(JSONError) -> Int64 {
    if let value = try readPlainInteger() { return value }
    let text = try integerText()
    guard let value = Int64(text) else { throw JSONError(.outOfRange("must be a whole number that fits 64 bits")) }
    return value
  }

  /// Like ``readInt64()``, for an integer that is not negative.
  public mutating func readUInt64() throws(JSONError) -> UInt64 {
    let text = try integerText()
    guard let value = UInt64(text) else {
      throw JSONError(.outOfRange("must be a whole number, not negative, that fits 64 bits"))
    }
    return value
  }

  /// Like ``readInt64()``, for an integer of 32 bits.
  public mutating func readInt32() throws(JSONError) -> Int32 {
    if let value = try readPlainInteger() {
      guard let value = Int32(exactly: value) else { throw JSONError(.outOfRange("must be a whole number that fits 32 bits")) }
      return value
    }
    let text = try integerText()
    guard let value = Int32(text) else { throw JSONError(.outOfRange("must be a whole number that fits 32 bits")) }
    return value
  }

  /// Like ``readInt64()``, for an integer of 32 bits that is not negative.
  public mutating func readUInt32() throws(JSONError) -> UInt32 {
    let text = try integerText()
    guard let value = UInt32(text) else {
      throw JSONError(.outOfRange("must be a whole number, not negative, that fits 32 bits"))
    }
    return value
  }

  /// Reads a double, as a number or, as in proto3 JSON, a string: `"NaN"`, `"Infinity"`, `"-Infinity"` or a number's text.
  public mutating func readDouble() throws(JSONError) -> Double {
    switch try peek() {
    case .number:
      let value = try readNumber().double
      guard value.isFinite else { throw JSONError(.outOfRange("must be a number that fits a double")) }
      return value
    case .string:
      let text = try readString()
      switch text {
      case "NaN": return .nan
      case "Infinity": return .infinity
      case "-Infinity": return -.infinity
      default:
        guard let number = try? JSONValue(parsing: text).numberValue else {
          throw JSONError(.wrongType(expected: "a number"))
        }
        return number.double
      }
    default: throw JSONError(.wrongType(expected: "a number"))
    }
  }

  // MARK: Helpers

  /// Reads an integer of up to 18 digits without fraction and exponent, as most numbers are. For any other value, returns nil and consumes
  /// nothing.
  private mutating func readPlainInteger() throws(JSONError) -> Int64? {
    guard try peek() == .number else { return nil }
    var end = position
    let isNegative = bytes[end] == UInt8(ascii: "-")
    if isNegative { end += 1 }
    let start = end
    var value: Int64 = 0
    while end < bytes.count, end - start < 18, (48...57).contains(bytes[end]) {
      value = value * 10 + Int64(bytes[end] - 48)
      end += 1
    }
    guard end > start, bytes[start] != 48 || end == start + 1 else { return nil }
    if end < bytes.count, (48...57).contains(bytes[end]) || bytes[end] == UInt8(ascii: ".") || bytes[end] | 0x20 == UInt8(ascii: "e") {
      return nil
    }
    try count()
    position = end
    return isNegative ? -value : value
  }

  /// The decimal text of an integer that is written as a number or a string.
  private mutating func integerText() throws(JSONError) -> String {
    let text: String
    switch try peek() {
    case .number: text = try readNumber().text
    case .string:
      text = try readString()
      // In a string, only digits after an optional minus are accepted, and not "+1", " 1" or "".
      var digits = text.utf8[...]
      if digits.first == UInt8(ascii: "-") { digits = digits.dropFirst() }
      guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else {
        throw JSONError(.wrongType(expected: "a whole number"))
      }
    default: throw JSONError(.wrongType(expected: "a whole number"))
    }
    return try Self.wholeNumber(text)
  }

  /// The digits of a number: `5.0` and `5e2` are whole numbers too.
  private static func wholeNumber(_ text: String) throws(JSONError) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }) else { return text }
    guard let number = WholeNumber(text) else { throw JSONError(.wrongType(expected: "a whole number")) }
    return number.description
  }

  /// The text of the number at the position.
  private mutating func scanNumber() throws(JSONError) -> String {
    let start = position
    try passNumber()
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Moves the position past all digits.
  mutating func scanDigits() {
    while position < bytes.count, (48...57).contains(bytes[position]) { position += 1 }
  }
}
