import NIOCore

/// One word of a command.
public enum RedisArgument: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case string(String)
  case bytes([UInt8])
  case integer(Int64)

  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// As text, where it is one.
  var text: String? {
    switch self {
    case .string(let text): text
    case .bytes: nil
    case .integer(let value): String(value)
    }
  }
}

extension ByteBuffer {
  /// Writes a command as RESP asks for it: an array of bulk strings.
  mutating func writeRedisCommand(_ arguments: [RedisArgument]) {
    writeString("*\(arguments.count)\r\n")
    for argument in arguments {
      switch argument {
      case .string(let text):
        writeString("$\(text.utf8.count)\r\n")
        writeString(text)
      case .bytes(let bytes):
        writeString("$\(bytes.count)\r\n")
        writeBytes(bytes)
      case .integer(let value):
        let text = String(value)
        writeString("$\(text.utf8.count)\r\n\(text)")
      }
      writeString("\r\n")
    }
  }
}
