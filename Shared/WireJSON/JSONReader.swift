/// Reads JSON step by step, directly into typed messages, without building a tree.
///
/// ```swift
/// var reader = JSONReader(bytes)
/// try reader.beginObject()
/// while let key = try reader.nextKey() {
///   switch key {
///   case "id": id = try reader.readInt64()
///   default: try reader.skipValue()
///   }
/// }
/// try reader.finish()
/// ```
///
/// After each key, the caller must read or skip exactly one value. Arrays are read likewise, with ``beginArray()`` and ``nextElement()``.
/// The rules for a text are in ``JSONError``. ``readValue()`` and ``skipValue()`` detect repeated names inside their value. A caller that
/// reads an object by keys must itself detect a key that repeats.
///
/// The methods for strings and numbers are in `JSONReader+Strings.swift` and `JSONReader+Numbers.swift`.
public struct JSONReader: Sendable {
  public enum Kind: Sendable, Hashable { case object, array, string, number, bool, null }

  let bytes: [UInt8]
  let limits: JSONLimits
  /// The offset of the next byte.
  public internal(set) var position = 0
  /// The number of objects and arrays that are begun and not ended.
  var depth = 0
  /// The number of values so far.
  var values = 0
  /// One bit for each level: set after the first member or element of the object or array.
  var hasMember: UInt64 = 0
  /// One bit for each level, for ``passValue()``: set for an object, not set for an array.
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

  /// Consumes `{`. Then ``nextKey()`` must be called.
  public mutating func beginObject() throws(JSONError) {
    guard try peek() == .object else { throw JSONError(.wrongType(expected: "an object")) }
    try enter()
  }

  /// Consumes `[`. Then ``nextElement()`` must be called.
  public mutating func beginArray() throws(JSONError) {
    guard try peek() == .array else { throw JSONError(.wrongType(expected: "an array")) }
    try enter()
  }

  /// The next member's name; nil after the last one, and then the object is ended.
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

  /// True if the array has another element. If not, the array is ended.
  public mutating func nextElement() throws(JSONError) -> Bool { try advance(closing: UInt8(ascii: "]")) }

  /// Throws if anything but white space is left.
  public mutating func finish() throws(JSONError) {
    skipSpace()
    guard position == bytes.count else { throw syntax("text after the end of the document") }
  }

  // MARK: Values

  /// Consumes `null` and returns true if it is the next value.
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

  /// The capacity for members, enough for most objects, such as a postback.
  private static let usualMembers = 16

  /// Reads any value, as a tree. Repeated names in one object are an error.
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
        let isNew = object.members.count < KeySet.maxLinearSearch ? object[key] == nil : keys.insert(key, after: object)
        guard isNew else { throw JSONError(.duplicateKey(key), path: key) }
        if object.isEmpty { object.reserveCapacity(Self.usualMembers) }
        do { object.append(JSONObject.Member(key: key, value: try readValue())) } catch { throw error.inside(key) }
      }
      return .object(object)
    }
  }

  /// Skips a value, and checks it like ``readValue()``. ``passValue()`` costs less and checks less.
  public mutating func skipValue() throws(JSONError) { _ = try readValue() }

  // MARK: Helpers

  /// Consumes the first byte of an object or array.
  private mutating func enter() throws(JSONError) {
    try count()
    position += 1
    depth += 1
    guard depth <= limits.depth else { throw JSONError(.tooDeep(limit: limits.depth)) }
    hasMember &= ~(1 << UInt64(depth - 1))
  }

  /// Moves to the next member or element, past its comma. If there is none, consumes the closing byte and returns false.
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

  /// Counts a value, and throws if there are too many.
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

  /// Consumes `true`, `false` or `null`.
  mutating func literal(_ text: StaticString) throws(JSONError) {
    let length = text.utf8CodeUnitCount
    guard position + length <= bytes.count else { throw syntax("the text ends early") }
    for index in 0..<length where bytes[position + index] != text.utf8Start[index] {
      throw syntax("unexpected character")
    }
    position += length
  }

  /// An error at the present position.
  func syntax(_ what: String) -> JSONError { JSONError(.syntax(what, offset: position)) }
}
