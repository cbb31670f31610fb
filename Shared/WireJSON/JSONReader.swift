/// Reads JSON step by step, directly into typed messages, without building a tree.
///
/// The reader is strict. The caller must call `beginObject`, then `nextKey` until it returns nil, and read or skip exactly one value after
/// each key; likewise for arrays with `nextElement`. Repeated names are found by ``readValue()`` and ``skipValue()``; a caller that reads
/// an object by keys must detect them by recording the fields it has seen.
public struct JSONReader: Sendable {
  public enum Kind: Sendable, Hashable { case object, array, string, number, bool, null }

  let bytes: [UInt8]
  let limits: JSONLimits
  public internal(set) var position = 0
  var depth = 0
  var values = 0
  /// One bit for each level: set if the container has had a member.
  var hasMember: UInt64 = 0
  /// One bit for each level, for ``passValue()``: set if the container is an object.
  var isObject: UInt64 = 0

  public init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) {
    self.bytes = bytes
    self.limits = limits
  }

  // MARK: Structure

  /// The kind of the next value, without consuming it.
  public mutating func peek() throws(JSONError) -> Kind {
    skipSpace()
    guard position < bytes.count else { throw syntax("the text ends early") }
    switch bytes[position] {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), 48...57: return .number
    default: throw syntax("unexpected character")
    }
  }

  public mutating func beginObject() throws(JSONError) {
    guard try peek() == .object else { throw JSONError(.wrongType(expected: "an object")) }
    try enter()
  }

  public mutating func beginArray() throws(JSONError) {
    guard try peek() == .array else { throw JSONError(.wrongType(expected: "an array")) }
    try enter()
  }

  /// The next member's name; nil after the last one.
  public mutating func nextKey() throws(JSONError) -> String? {
    guard try advance(closing: UInt8(ascii: "}")) else { return nil }
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
      throw syntax("a name in quotes is missing")
    }
    let key = try scanString()
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else { throw syntax("a colon is missing") }
    position += 1
    return key
  }

  /// True if the array has another element.
  public mutating func nextElement() throws(JSONError) -> Bool { try advance(closing: UInt8(ascii: "]")) }

  /// Throws if anything but white space follows.
  public mutating func finish() throws(JSONError) {
    skipSpace()
    guard position == bytes.count else { throw syntax("text after the end of the document") }
  }

  // MARK: Values

  /// Consumes `null` if it is next.
  public mutating func readNull() throws(JSONError) -> Bool {
    guard try peek() == .null else { return false }
    try count()
    try literal("null")
    return true
  }

  public mutating func readBool() throws(JSONError) -> Bool {
    guard try peek() == .bool else { throw JSONError(.wrongType(expected: "true or false")) }
    try count()
    if bytes[position] == UInt8(ascii: "t") {
      try literal("true")
      return true
    }
    try literal("false")
    return false
  }

  public mutating func readString() throws(JSONError) -> String {
    guard try peek() == .string else { throw JSONError(.wrongType(expected: "a string")) }
    try count()
    return try scanString()
  }

  mutating func readNumber() throws(JSONError) -> JSONNumber {
    guard try peek() == .number else { throw JSONError(.wrongType(expected: "a number")) }
    try count()
    return JSONNumber(checked: try scanNumber())
  }

  /// A 64-bit integer as a number or a decimal string; a fraction of zero is allowed (`5.0`).
  public mutating func readInt64() throws(JSONError) -> Int64 {
    if let value = try readPlainInteger() { return value }
    let text = try integerText()
    guard let value = Int64(text) else { throw JSONError(.outOfRange("must be a whole number that fits 64 bits")) }
    return value
  }

  public mutating func readUInt64() throws(JSONError) -> UInt64 {
    let text = try integerText()
    guard let value = UInt64(text) else {
      throw JSONError(.outOfRange("must be a whole number, not negative, that fits 64 bits"))
    }
    return value
  }

  public mutating func readInt32() throws(JSONError) -> Int32 {
    if let value = try readPlainInteger() {
      guard let value = Int32(exactly: value) else { throw JSONError(.outOfRange("must be a whole number that fits 32 bits")) }
      return value
    }
    let text = try integerText()
    guard let value = Int32(text) else { throw JSONError(.outOfRange("must be a whole number that fits 32 bits")) }
    return value
  }

  public mutating func readUInt32() throws(JSONError) -> UInt32 {
    let text = try integerText()
    guard let value = UInt32(text) else {
      throw JSONError(.outOfRange("must be a whole number, not negative, that fits 32 bits"))
    }
    return value
  }

  /// A double, also in the string forms of proto3 JSON (`"NaN"`, `"Infinity"`, `"-Infinity"`).
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

  /// Enough for most objects, such as a postback.
  private static let usualMembers = 16

  /// Any value, as a tree. Repeated names in one object are an error.
  public mutating func readValue() throws(JSONError) -> JSONValue {
    switch try peek() {
    case .null:
      _ = try readNull()
      return .null
    case .bool: return .bool(try readBool())
    case .number: return .number(try readNumber())
    case .string: return .string(try readString())
    case .array:
      var elements: [JSONValue] = []
      try beginArray()
      while try nextElement() {
        do { elements.append(try readValue()) } catch { throw error.inside("[\(elements.count)]") }
      }
      return .array(elements)
    case .object:
      var object = JSONObject()
      // Used only for objects with many members.
      var keys = KeySet()
      try beginObject()
      while let key = try nextKey() {
        let isNew = object.members.count < KeySet.few ? object[key] == nil : keys.insert(key, after: object)
        guard isNew else { throw JSONError(.duplicateKey(key), path: key) }
        if object.isEmpty { object.reserveCapacity(Self.usualMembers) }
        do { object.append(JSONObject.Member(key: key, value: try readValue())) } catch { throw error.inside(key) }
      }
      return .object(object)
    }
  }

  /// Skips a value and checks it.
  public mutating func skipValue() throws(JSONError) { _ = try readValue() }

  // MARK: Helpers

  private mutating func enter() throws(JSONError) {
    try count()
    position += 1
    depth += 1
    guard depth <= limits.depth else { throw JSONError(.tooDeep(limit: limits.depth)) }
    hasMember &= ~(1 << UInt64(depth - 1))
  }

  private mutating func advance(closing: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    guard position < bytes.count else { throw syntax("the text ends early") }
    let bit: UInt64 = 1 << UInt64(depth - 1)
    if bytes[position] == closing {
      position += 1
      depth -= 1
      return false
    }
    if hasMember & bit != 0 {
      guard bytes[position] == UInt8(ascii: ",") else { throw syntax("a comma is missing") }
      position += 1
      skipSpace()
    }
    hasMember |= bit
    return true
  }

  mutating func count() throws(JSONError) {
    values += 1
    guard values <= limits.values else { throw JSONError(.tooManyValues(limit: limits.values)) }
  }

  @inline(__always)
  mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  mutating func literal(_ word: StaticString) throws(JSONError) {
    let length = word.utf8CodeUnitCount
    guard position + length <= bytes.count else { throw syntax("the text ends early") }
    for index in 0..<length where bytes[position + index] != word.utf8Start[index] {
      throw syntax("unexpected character")
    }
    position += length
  }

  /// Reads an integer of up to 18 digits without fraction and exponent, as most numbers are. For any other value, returns nil and consumes
  /// nothing.
  private mutating func readPlainInteger() throws(JSONError) -> Int64? {
    guard try peek() == .number else { return nil }
    var at = position
    let isNegative = bytes[at] == UInt8(ascii: "-")
    if isNegative { at += 1 }
    let start = at
    var value: Int64 = 0
    while at < bytes.count, at - start < 18, (48...57).contains(bytes[at]) {
      value = value * 10 + Int64(bytes[at] - 48)
      at += 1
    }
    guard at > start, bytes[start] != 48 || at == start + 1 else { return nil }
    if at < bytes.count, (48...57).contains(bytes[at]) || bytes[at] == UInt8(ascii: ".") || bytes[at] | 0x20 == UInt8(ascii: "e") {
      return nil
    }
    try count()
    position = at
    return isNegative ? -value : value
  }

  private mutating func integerText() throws(JSONError) -> String {
    let text: String
    switch try peek() {
    case .number: text = try readNumber().text
    case .string:
      text = try readString()
      // A text has only digits, after an optional minus: "+1", " 1" and "" are mistakes.
      var digits = text.utf8[...]
      if digits.first == UInt8(ascii: "-") { digits = digits.dropFirst() }
      guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else {
        throw JSONError(.wrongType(expected: "a whole number"))
      }
    default: throw JSONError(.wrongType(expected: "a whole number"))
    }
    return try Self.wholeNumber(text)
  }

  /// `5.0` and `5e2` are whole numbers too; anything with a remaining fraction is not.
  private static func wholeNumber(_ text: String) throws(JSONError) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }) else { return text }
    guard let value = Double(text), let whole = Int64(exactly: value), whole.magnitude <= 1 << 53 else {
      throw JSONError(.wrongType(expected: "a whole number"))
    }
    return String(whole)
  }

  private mutating func scanNumber() throws(JSONError) -> String {
    let start = position
    try passNumber()
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  mutating func scanDigits() {
    while position < bytes.count, (48...57).contains(bytes[position]) { position += 1 }
  }

  /// Must be called at an opening quote. Moves the position after the closing one.
  private mutating func scanString() throws(JSONError) -> String {
    position += 1
    let start = position
    var end = start
    let text: String? = bytes.withUnsafeBufferPointer { bytes in
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

  func syntax(_ what: String) -> JSONError { JSONError(.syntax(what, offset: position)) }
}
