import CHiredis

/// hiredis' reader: bytes in, replies out. One a connection, used on its event loop alone.
final class ReplyReader {
  /// What hiredis tells of, piece by piece.
  private final class Pieces {
    var items: [ReplyTape.Item] = []
    var bytes: [UInt8] = []
    /// Items that may still come; below none there were too many.
    var left: Int
    let most: Int

    init(most: Int) {
      self.most = most
      left = most
    }

    func take(_ item: ReplyTape.Item) -> Bool {
      left -= 1
      guard left >= 0 else { return false }
      items.append(item)
      return true
    }

    func reply() -> RedisReply {
      defer {
        // Kept where it was not given away.
        items.removeAll(keepingCapacity: items.count == 1)
        bytes.removeAll(keepingCapacity: bytes.isEmpty)
        left = most
      }
      return ReplyTape.reply(items: items, bytes: bytes)
    }
  }

  private let raw: UnsafeMutablePointer<redisReader>
  private let pieces: Pieces

  /// `maxElements` bounds one reply, nested ones counted.
  init?(maxElements: Int) {
    guard let raw = redisReaderCreateWithFunctions(Self.functions) else { return nil }
    self.raw = raw
    pieces = Pieces(most: maxElements)
    raw.pointee.privdata = Unmanaged.passUnretained(pieces).toOpaque()
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
    return reply == nil ? nil : pieces.reply()
  }

  private var fault: RedisError {
    if pieces.left < 0 { return .unexpectedReply("a command with too many elements") }
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
            if start == 0 { pieces.bytes.reserveCapacity(max(length, 256)) }
            if let text { pieces.bytes.append(contentsOf: UnsafeRawBufferPointer(start: text, count: length)) }
            let kind: ReplyTape.Kind = task?.pointee.type == REDIS_REPLY_ERROR ? .error : .text
            return ReplyTape.Item(kind: kind, count: Int32(length), value: Int64(start))
          }
        },
        createArray: { task, count in ReplyReader.take(task) { _ in ReplyTape.Item(kind: .array, count: count) } },
        createInteger: { task, value in ReplyReader.take(task) { _ in ReplyTape.Item(kind: .integer, value: value) } },
        createNil: { task in ReplyReader.take(task) { _ in ReplyTape.Item(kind: .null) } },
        freeObject: { _ in }))
    return functions
  }()

  private static func take(_ task: UnsafePointer<redisReadTask>?, _ item: (Pieces) -> ReplyTape.Item) -> UnsafeMutableRawPointer? {
    guard let place = task?.pointee.privdata else { return nil }
    let pieces = Unmanaged<Pieces>.fromOpaque(place).takeUnretainedValue()
    return pieces.take(item(pieces)) ? place : nil
  }
}
