import NIOCore
import Testing

@testable import RedisClient

/// A list as Redis answers it, which is how it is asked too.
func reply(_ words: [RedisArgument]) throws -> RedisReply {
  var buffer = ByteBuffer()
  buffer.writeRedisCommand(RedisWords(words))
  let reader = try #require(ReplyReader(maxElements: 100))
  try buffer.withUnsafeReadableBytes { try reader.feed($0) }
  return try #require(try reader.next())
}
