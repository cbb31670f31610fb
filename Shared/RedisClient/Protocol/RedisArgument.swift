/// One argument of a command.
public enum RedisArgument: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case string(String)
  case bytes([UInt8])
  case integer(Int64)

  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// The text; nil for bytes and for an integer.
  var text: String? { if case .string(let text) = self { text } else { nil } }
}

extension RedisArgument {
  /// The approximate size in bytes as a bulk string.
  var wireSize: Int {
    switch self {
    case .string(let text): text.utf8.count + 8
    case .bytes(let bytes): bytes.count + 8
    case .integer: 24
    }
  }
}
