import CHiredis

/// Parses replies with hiredis' reader: ``feed(_:)`` takes the received bytes, and ``next()`` returns whole replies. Each connection has
/// one, which is used only on the connection's event loop.
final class ReplyReader {
  /// The items so far of the reply that hiredis is parsing.
  private struct PartialReply {
    var items: [ReplyTape.Item] = []
    var bytes: [UInt8] = []
    /// The greatest number of bytes that are reserved in advance.
    private static let maxReservedBytes = 256 << 10
    /// The numbers of items and bytes to reserve, which are those of the last reply.
    var reserved = (items: 0, bytes: 0)
    /// The number of items that the reply may still have; negative if it had too many.
    var remaining: Int
    let maxElements: Int

    init(maxElements: Int) {
      self.maxElements = maxElements
      remaining = maxElements
    }

    /// Adds an item. Returns false if there are too many.
    mutating func add(_ item: ReplyTape.Item) -> Bool {
      remaining -= 1
      guard remaining >= 0 else { return false }
      if items.isEmpty { items.reserveCapacity(reserved.items) }
      items.append(item)
      return true
    }

    /// Removes a finished reply.
    mutating func reset() {
      remaining = maxElements
      items.removeAll(keepingCapacity: true)
      bytes.removeAll(keepingCapacity: true)
    }

    /// Removes and returns a finished reply.
    mutating func finish() -> RedisReply {
      remaining = maxElements
      if items.count == 1, items[0].kind == .integer || items[0].kind == .null {
        // An integer or null needs no tape. The memory is kept for the next reply.
        defer { items.removeAll(keepingCapacity: true) }
        return RedisReply(items[0], in: nil, at: 0)
      }
      let tape = ReplyTape(items: &items, bytes: bytes)
      bytes = []
      // The next reply often has a similar size, so this much memory is reserved for it, within limits.
      reserved = (min(tape.items.count, Self.maxReservedBytes / 64), min(tape.bytes.count, Self.maxReservedBytes))
      return RedisReply(tape.items[0], in: tape, at: 0)
    }
  }

  private let raw: UnsafeMutablePointer<redisReader>
  /// In memory of its own, because hiredis passes a pointer to it to each callback.
  private let partial: UnsafeMutablePointer<PartialReply>

  /// Nil if there is no memory.
  ///
  /// - Parameter maxElements: the greatest number of elements of one reply, including nested ones.
  init?(maxElements: Int) {
    guard let raw = redisReaderCreateWithFunctions(Self.functions) else { return nil }
    self.raw = raw
    partial = .allocate(capacity: 1)
    partial.initialize(to: PartialReply(maxElements: maxElements))
    raw.pointee.privdata = UnsafeMutableRawPointer(partial)
  }

  deinit {
    redisReaderFree(raw)
    partial.deinitialize(count: 1)
    partial.deallocate()
  }

  /// Adds received bytes.
  func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return }
    guard redisReaderFeed(raw, base.assumingMemoryBound(to: CChar.self), bytes.count) == REDIS_OK else { throw parseError }
  }

  /// Drops the next whole reply. Returns false if more bytes are needed.
  func skip() throws(RedisError) -> Bool {
    var reply: UnsafeMutableRawPointer?
    guard redisReaderGetReply(raw, &reply) == REDIS_OK else { throw parseError }
    if reply != nil { partial.pointee.reset() }
    return reply != nil
  }

  /// The next whole reply; nil if more bytes are needed.
  func next() throws(RedisError) -> RedisReply? {
    var reply: UnsafeMutableRawPointer?
    guard redisReaderGetReply(raw, &reply) == REDIS_OK else { throw parseError }
    return reply == nil ? nil : partial.pointee.finish()
  }

  /// The error after a failed call of hiredis.
  private var parseError: RedisError {
    if partial.pointee.remaining < 0 { return .unexpectedReply("a command with too many elements") }
    return .unavailable(
      "protocol error: "
        + withUnsafePointer(to: raw.pointee.errstr) {
          $0.withMemoryRebound(to: CChar.self, capacity: 128) { String(cString: $0) }
        })
  }

  /// The callbacks by which hiredis reports items instead of creating its own objects. If a callback returns nil, hiredis fails.
  nonisolated(unsafe) private static let functions: UnsafeMutablePointer<redisReplyObjectFunctions> = {
    let functions = UnsafeMutablePointer<redisReplyObjectFunctions>.allocate(capacity: 1)
    functions.initialize(
      to: redisReplyObjectFunctions(
        createString: { task, text, length in
          ReplyReader.add(task) { reply in
            let start = reply.bytes.count
            if start == 0 { reply.bytes.reserveCapacity(max(length, reply.reserved.bytes, 256)) }
            if let text { reply.bytes.append(contentsOf: UnsafeRawBufferPointer(start: text, count: length)) }
            let kind: ReplyTape.Kind = task?.pointee.type == REDIS_REPLY_ERROR ? .error : .text
            return reply.add(ReplyTape.Item(kind: kind, count: Int32(length), value: Int64(start)))
          }
        },
        createArray: { task, count in
          ReplyReader.add(task) { reply in reply.add(ReplyTape.Item(kind: .array, count: count)) }
        },
        createInteger: { task, value in
          ReplyReader.add(task) { reply in reply.add(ReplyTape.Item(kind: .integer, value: value)) }
        },
        createNil: { task in ReplyReader.add(task) { reply in reply.add(ReplyTape.Item(kind: .null)) } },
        freeObject: { _ in }))
    return functions
  }()

  /// Lets a callback add an item to the reply to which hiredis' task points. Returns nil if there are too many items.
  private static func add(_ task: UnsafePointer<redisReadTask>?, _ item: (inout PartialReply) -> Bool) -> UnsafeMutableRawPointer? {
    guard let reply = task?.pointee.privdata else { return nil }
    return item(&reply.assumingMemoryBound(to: PartialReply.self).pointee) ? reply : nil
  }
}
