import NIOCore

extension ByteBuffer {
  /// Writes a command in RESP: an array of bulk strings.
  mutating func writeRedisCommand(_ words: EncodedArguments) {
    writeRedisCommandStart(words)
    words.forEachPiece { writeBytes($0) }
  }

  /// Writes several encoded commands. Each already contains its array header.
  mutating func writeRedisCommands(_ commands: EncodedCommands) { commands.words.forEachPiece { writeBytes($0) } }

  /// Writes the array header of a command.
  mutating func writeRedisCommandStart(_ words: EncodedArguments) {
    writeInteger(UInt8(ascii: "*"))
    writeString(String(words.count))
    writeStaticString("\r\n")
  }
}
