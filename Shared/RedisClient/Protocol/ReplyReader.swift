import CHiredis

/// A wrapper of hiredis' reader: bytes in, replies out. Each connection has one, used only on its event loop.
final class ReplyReader {
  /// What hiredis tells of, piece by piece.
  private struct PartialReply {
    var items: [ReplyTape.Item] = []
    var bytes: [UInt8] = []
    /// Bytes for which room is made before they come.
    private static let mostRoom = 256 << 10
    /// How many items and bytes the last reply had.
    var room = (items: 0, bytes: 0)
    /// Items that may still come; below none there were too many.
    var left: Int
    let most: Int

    init(most: Int) {
      self.most = most
      left = most
    }

    mutating func take(_ item: ReplyTape.Item) -> Bool {
      left -= 1
      guard left >= 0 else { return false }
      if items.isEmpty { items.reserveCapacity(room.items) }
      items.append(item)
      return true
    }

    mutating func drop() {
      left = most
      items.removeAll(keepingCapacity: true)
      bytes.removeAll(keepingCapacity: true)
    }

    mutating func reply() -> RedisReply {
      left = most
      if items.count == 1, items[0].kind == .integer || items[0].kind == .null {
        // It needs no tape, and the room for the next one is kept.
        defer { items.removeAll(keepingCapacity: true) }
        return RedisReply(items[0], in: nil, at: 0)
      }
      let tape = ReplyTape(items: &items, bytes: bytes)
      bytes = []
      // The next reply is often like this one: its room is made at once, within bounds.
      room = (min(tape.items.count, Self.mostRoom / 64), min(tape.bytes.count, Self.mostRoom))
      return RedisReply(tape.items[0], in: tape, at: 0)
    }
  }

  private let raw: UnsafeMutablePointer<redisReader>
  /// At a place of its own, which hiredis hands back with each piece.
  private let pieces: UnsafeMutablePointer<PartialReply>

  /// `maxElements` bounds one reply, nested ones counted.
  init?(maxElements: Int) {
    guard let raw = redisReaderCreateWithFunctions(Self.functions) else { return nil }
    self.raw = raw
    pieces = .allocate(capacity: 1)
    pieces.initialize(to: PartialReply(most: maxElements))
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

  /// Drops the next whole reply; false when more bytes are needed.
  func skip() throws(RedisError) -> Bool {
    var reply: UnsafeMutableRawPointer?
    guard redisReaderGetReply(raw, &reply) == REDIS_OK else { throw fault }
    if reply != nil { pieces.pointee.drop() }
    return reply != nil
  }

  /// The next whole reply, or nil when more bytes are needed.
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

  /// hiredis makes no objects of its own: it hands on what it reads. Answering no object means that it cannot be taken.
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
    guard let place = task?.pointee.privdata else { return nil }
    return piece(&place.assumingMemoryBound(to: PartialReply.self).pointee) ? place : nil
  }
}
