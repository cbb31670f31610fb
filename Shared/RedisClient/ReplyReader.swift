import CHiredis

/// hiredis' reader: bytes in, replies out. One a connection, used on its event loop alone.
final class ReplyReader {
  private let raw: UnsafeMutablePointer<redisReader>
  private let maxElements: Int

  /// `maxElements` bounds one reply, nested ones counted.
  init?(maxElements: Int) {
    guard let raw = redisReaderCreate() else { return nil }
    self.raw = raw
    self.maxElements = maxElements
  }

  deinit { redisReaderFree(raw) }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return }
    guard redisReaderFeed(raw, base.assumingMemoryBound(to: CChar.self), bytes.count) == REDIS_OK else { throw fault }
  }

  /// The next whole reply, or nil when more bytes are needed.
  func next() throws(RedisError) -> RedisReply? {
    var reply: UnsafeMutableRawPointer?
    guard redisReaderGetReply(raw, &reply) == REDIS_OK else { throw fault }
    guard let reply else { return nil }
    defer { freeReplyObject(reply) }
    var left = maxElements
    return try Self.convert(reply.assumingMemoryBound(to: redisReply.self).pointee, &left)
  }

  private var fault: RedisError {
    .unavailable(
      "protocol error: "
        + withUnsafePointer(to: raw.pointee.errstr) {
          $0.withMemoryRebound(to: CChar.self, capacity: 128) { String(cString: $0) }
        })
  }

  private static func convert(_ reply: redisReply, _ left: inout Int) throws(RedisError) -> RedisReply {
    left -= 1
    guard left >= 0 else { throw .unexpectedReply("a command with too many elements") }
    switch reply.type {
    case REDIS_REPLY_INTEGER: return .integer(reply.integer)
    case REDIS_REPLY_NIL: return .null
    case REDIS_REPLY_ERROR: return .error(String(decoding: bytes(reply), as: UTF8.self))
    case REDIS_REPLY_ARRAY:
      var elements: [RedisReply] = []
      elements.reserveCapacity(Int(reply.elements))
      for index in 0..<Int(reply.elements) {
        guard let element = reply.element[index] else { continue }
        elements.append(try convert(element.pointee, &left))
      }
      return .array(elements)
    default: return .bytes(bytes(reply))
    }
  }

  private static func bytes(_ reply: redisReply) -> [UInt8] {
    guard let text = reply.str else { return [] }
    return Array(UnsafeRawBufferPointer(start: text, count: reply.len))
  }
}
