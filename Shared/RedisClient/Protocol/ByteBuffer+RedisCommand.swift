import NIOCore

extension ByteBuffer {
  /// Writes a command in RESP: an array of bulk strings.
  mutating func writeRedisCommand(_ arguments: EncodedArguments) {
    writeRedisCommandStart(arguments)
    arguments.forEachChunk { writeBytes($0) }
  }

  /// Writes several encoded commands, which already have their array headers.
  mutating func writeRedisCommands(_ commands: EncodedCommands) { commands.arguments.forEachChunk { writeBytes($0) } }

  /// Writes the array header of a command.
  mutating func writeRedisCommandStart(_ arguments: EncodedArguments) {
    writeInteger(UInt8(ascii: "*"))
    writeString(String(arguments.count))
    writeStaticString("\r\n")
  }
}
