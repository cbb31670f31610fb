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

extension RedisArgument {
  /// About how many bytes it takes as a bulk string.
  var wireSize: Int {
    switch self {
    case .string(let text): text.utf8.count + 8
    case .bytes(let bytes): bytes.count + 8
    case .integer: 16
    }
  }
}

extension ByteBuffer {
  /// Writes a command as RESP asks for it: an array of bulk strings.
  mutating func writeRedisCommand(_ arguments: [RedisArgument]) {
    writeInteger(UInt8(ascii: "*"))
    writeDecimal(Int64(arguments.count))
    writeStaticString("\r\n")
    for argument in arguments {
      writeInteger(UInt8(ascii: "$"))
      switch argument {
      case .string(let text):
        writeDecimal(Int64(text.utf8.count))
        writeStaticString("\r\n")
        writeString(text)
      case .bytes(let bytes):
        writeDecimal(Int64(bytes.count))
        writeStaticString("\r\n")
        writeBytes(bytes)
      case .integer(let value):
        writeDecimal(Int64(Self.decimalDigits(value)))
        writeStaticString("\r\n")
        writeDecimal(value)
      }
      writeStaticString("\r\n")
    }
  }

  /// How many characters ``writeDecimal(_:)`` writes.
  private static func decimalDigits(_ value: Int64) -> Int {
    var rest = value.magnitude / 10
    var count = value < 0 ? 2 : 1
    while rest > 0 {
      count += 1
      rest /= 10
    }
    return count
  }

  private mutating func writeDecimal(_ value: Int64) {
    // The longest is -9223372036854775808.
    writeWithUnsafeMutableBytes(minimumWritableBytes: 20) { buffer in
      let count = Self.decimalDigits(value)
      var rest = value.magnitude
      for index in stride(from: count - 1, through: value < 0 ? 1 : 0, by: -1) {
        buffer[index] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
      if value < 0 { buffer[0] = UInt8(ascii: "-") }
      return count
    }
  }
}
