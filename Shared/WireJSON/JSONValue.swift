/// Any JSON value, as a tree. It keeps all digits of numbers and the order of members. ``JSONReader`` reads typed documents without a tree.
///
/// ```swift
/// let value = try JSONValue(parsing: #"{"ids": [1, 2]}"#)
/// let ids = value["ids"]?.arrayValue
/// ```
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// Strings are compared byte for byte, see ``ExactText``.
  public static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a.isExactly(b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  /// Parses a whole document.
  public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var reader = JSONReader(bytes, limits: limits)
    self = try reader.readValue()
    try reader.finish()
  }

  /// Parses a whole document.
  public init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }

  /// The value's JSON text in UTF-8, without white space.
  public var serialized: [UInt8] {
    var writer = JSONWriter()
    writer.value(self)
    return writer.bytes
  }

  /// The value's JSON text, without white space.
  public var serializedString: String { String(decoding: serialized, as: UTF8.self) }

  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var numberValue: JSONNumber? { if case .number(let value) = self { value } else { nil } }
  public var int64Value: Int64? { numberValue?.int64 }
  public var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The member with that name, if this is an object that has it.
  public subscript(_ key: String) -> JSONValue? { objectValue?[key] }

  /// A number from an integer of any type.
  public static func integer(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements.map { JSONObject.Member(key: $0.0, value: $0.1) }))
  }
  public init(nilLiteral: ()) { self = .null }
}
