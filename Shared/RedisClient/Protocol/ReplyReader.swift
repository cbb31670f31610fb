import CHiredis

/// A wrapper of hiredis' reader: bytes in, replies out. Each connection has one, used only on its event loop.
final class ReplyReader {
  /// The reply that hiredis is parsing; it reports items one by one.
  private struct PartialReply {
    var items: [ReplyTape.Item] = []
    var bytes: [UInt8] = []
    /// The greatest number of bytes that are reserved in advance.
    private static let maxRoom = 256 << 10
    /// The numbers of items and bytes of the last reply.
    var room = (items: 0, bytes: 0)
    /// The number of items that may still follow; negative if there were too many.
    var left: Int
    let maxElements: Int

    init(maxElements: Int) {
      self.maxElements = maxElements
      left = maxElements
    }

    mutating func take(_ item: ReplyTape.Item) -> Bool {
      left -= 1
      guard left >= 0 else { return false }
      if items.isEmpty { items.reserveCapacity(room.items) }
      items.append(item)
      return true
    }

    mutating func drop() {
      left = maxElements
      items.removeAll(keepingCapacity: true)
      bytes.removeAll(keepingCapacity: true)
    }

    mutating func reply() -> RedisReply {
      left = maxElements
      if items.count == 1, items[0].kind == .integer || items[0].kind == .null {
        // A reply of one item needs no tape; the capacity is kept for the next reply.
        defer { items.removeAll(keepingCapacity: true) }
        return RedisReply(items[0], in: nil, at: 0)
      }
      let tape = ReplyTape(items: &items, bytes: bytes)
      bytes = []
      // The next reply is often of similar size, so its memory is reserved, within limits.
      room = (min(tape.items.count, Self.maxRoom / 64), min(tape.bytes.count, Self.maxRoom))
      return RedisReply(tape.items[0], in: tape, at: 0)
    }
  }

  private let raw: UnsafeMutablePointer<redisReader>
  /// Allocated separately, because hiredis passes this pointer to each callback.
  private let pieces: UnsafeMutablePointer<PartialReply>

  /// `maxElements`: the greatest number of elements of one reply, including nested ones.
  init?(maxElements: Int) {
    guard let raw = redisReaderCreateWithFunctions(Self.functions) else { return nil }
    self.raw = raw
    pieces = .allocate(capacity: 1)
    pieces.initialize(to: PartialReply(maxElements: maxElements))
    raw.pointee.privdata = UnsafeMutableRawPointer(pieces)
  }

  deinit {
    redisReaderFree(raw)
    pieces.deinitialize(count: 1)
    pieces.deallocate()
  }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return }
    guard redisReaderFeed(raw, base.assumingMemoryBound(to: CChar.self), bytes.count) == REDIS_OK else { throw fault }
  }

  /// Drops the next whole reply. Returns false if more bytes are needed.
  func skip() throws(RedisError) -> Bool {
    var reply: UnsafeMutableRawPointer?
    guard redisReaderGetReply(raw, &reply) == REDIS_OK else { throw fault }
    if reply != nil { pieces.pointee.drop() }
    return reply != nil
  }

  /// The next whole reply; nil if more bytes are needed.
  func next() throws(RedisError) -> RedisReply? {
    var reply: UnsafeMutableRawPointer?
    guard redisReaderGetReply(raw, &reply) == REDIS_OK else { throw fault }
    return reply == nil ? nil : pieces.pointee.reply()
  }

  private var fault: RedisError {
    if pieces.pointee.left < 0 { return .unexpectedReply("a command with too many elements") }
    return .unavailable(
      "protocol error: "
        + withUnsafePointer(to: raw.pointee.errstr) {
          $0.withMemoryRebound(to: CChar.self, capacity: 128) { String(cString: $0) }
        })
  }

  /// Callbacks for hiredis in place of its own objects. A callback that returns no object makes hiredis fail.
  nonisolated(unsafe) private static let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
    let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
    functions.initialize(
      to: redisReplyObjectFunctions(
        createString: { task, text, length in
          ReplyReader.take(task) { pieces in
            let start = pieces.bytes.count
            if start == 0 { pieces.bytes.reserveCapacity(max(length, pieces.room.bytes, 256)) }
            if let text { pieces.bytes.append(contentsOf: UnsafeRawBufferPointer(start: text, count: length)) }
            let kind: ReplyTape.Kind = task?.pointee.type == REDIS_REPLY_ERROR ? .error : .text
            return pieces.take(ReplyTape.Item(kind: kind, count: Int32(length), value: Int64(start)))
          }
        },
        createArray: { task, count in
          ReplyReader.take(task) { pieces in pieces.take(ReplyTape.Item(kind: .array, count: count)) }
        },
        createInteger: { task, value in
          ReplyReader.take(task) { pieces in pieces.take(ReplyTape.Item(kind: .integer, value: value)) }
        },
        createNil: { task in ReplyReader.take(task) { pieces in pieces.take(ReplyTape.Item(kind: .null)) } },
        freeObject: { _ in }))
    return functions
  }()

  private static func take(_ task: UnsafePointer<redisReadTask>?, _ piece: (inout PartialReply) -> Bool) -> UnsafeMutableRawPointer? {
    guard let reply = task?.pointee.privdata else { return nil }
    return piece(&reply.assumingMemoryBound(to: PartialReply.self).pointee) ? reply : nil
  }
}
