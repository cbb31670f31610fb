import NIOCore
import Testing

@testable import RedisClient

/// A list as Redis sends it. Commands have the same format.
func reply(_ words: [RedisArgument]) throws -> RedisReply {
  var buffer = ByteBuffer()
  buffer.writeRedisCommand(EncodedArguments(words))
  return try reply(buffer.readableBytesView)
}

/// A reply in the format of the protocol.
func reply(written text: String) throws -> RedisReply { try reply(text.utf8) }

private func reply(_ written: some Sequence<UInt8>) throws -> RedisReply {
  let reader = try #require(ReplyReader(maxElements: 100))
  try Array(written).withUnsafeBytes { try reader.feed($0) }
  return try #require(try reader.next())
}
