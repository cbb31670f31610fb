import NIOCore

/// One argument of a command.
public enum RedisArgument: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  case string(String)
  case bytes([UInt8])
  case integer(Int64)

  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// The text; nil for another kind of argument.
  var text: String? { if case .string(let text) = self { text } else { nil } }
}

extension RedisArgument {
  /// The approximate size as a bulk string, bytes.
  var wireSize: Int {
    switch self {
    case .string(let text): text.utf8.count + 8
    case .bytes(let bytes): bytes.count + 8
    case .integer: 24
    }
  }
}

extension ByteBuffer {
  /// Writes a command in RESP: an array of bulk strings.
  mutating func writeRedisCommand(_ words: EncodedArguments) {
    writeRedisCommandStart(words)
    words.forEachPiece { writeBytes($0) }
  }

  /// Writes several commands, which include their array headers.
  mutating func writeRedisCommands(_ commands: EncodedCommands) { commands.words.forEachPiece { writeBytes($0) } }

  /// Writes the array header of a command.
  mutating func writeRedisCommandStart(_ words: EncodedArguments) {
    writeInteger(UInt8(ascii: "*"))
    writeString(String(words.count))
    writeStaticString("\r\n")
  }
}
