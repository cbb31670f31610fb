/// A reply of Redis (RESP2): a position in a ``ReplyTape``.
public struct RedisReply: Sendable {
  let item: ReplyTape.Item
  /// The tape with the bytes and elements; nil for a reply without any.
  private let tape: ReplyTape?
  private let position: Int

  init(_ item: ReplyTape.Item, in tape: ReplyTape?, at position: Int) {
    self.item = item
    self.tape = tape
    self.position = position
  }

  /// Reads a reply from its encoding (RESP2). Nil if the bytes do not begin with a whole reply of at most 1,000 elements.
  public init?(parsing bytes: [UInt8]) {
    guard let reader = ReplyReader(maxElements: 1000) else { return nil }
    do {
      try bytes.withUnsafeBytes { try reader.feed($0) }
      guard let reply = try reader.next() else { return nil }
      self = reply
    } catch { return nil }
  }

  /// No value.
  public static let null = RedisReply(ReplyTape.Item(kind: .null), in: nil, at: 0)

  public var isNull: Bool { item.kind == .null }

  /// A simple or a bulk string, as text.
  public var string: String? { tape?.string(item) }

  /// The reply as text. If it equals `known`, `known` is returned and no string is allocated.
  public func string(like known: String) -> String? { tape?.string(item, like: known) }

  /// A simple or a bulk string.
  public var bytes: [UInt8]? { tape?.bytes(item) }

  /// The only byte of a string that has one; nil for any other reply.
  public var letter: UInt8? { tape?.letter(item) }

  /// The text of an error reply.
  public var error: String? { item.kind == .error ? tape?.text(item) ?? "" : nil }

  /// An integer, also one that is a string.
  public var integer: Int64? { item.kind == .integer ? item.value : tape?.integer(item) }

  /// A copy of this part alone. Any other part of a reply keeps the whole reply in memory.
  public var detached: RedisReply {
    guard let tape, item.kind == .array else { return self }
    let part = ReplyTape(tape, from: position)
    return RedisReply(part.items[0], in: part, at: 0)
  }

  public var array: [RedisReply]? { item.kind == .array ? Array(elements) : nil }

  /// The elements of an array; empty for any other reply.
  public var elements: Elements {
    Elements(tape: tape, position: position + 1, left: item.kind == .array ? Int(item.count) : 0)
  }

  /// Iterates over elements without allocating an array.
  public struct Elements: Sequence, IteratorProtocol, Sendable {
    fileprivate let tape: ReplyTape?
    fileprivate var position: Int
    fileprivate var left: Int

    public var underestimatedCount: Int { left }

    public mutating func next() -> RedisReply? {
      guard left > 0, let tape else { return nil }
      left -= 1
      let item = tape.items[position]
      defer { position = Int(item.end) }
      return RedisReply(item, in: tape, at: position)
    }

    // The next element as one type; nil if it has another type or there is none. Unlike ``next()`` these create no ``RedisReply``, which
    // would retain the tape.

    public mutating func nextString() -> String? { take().flatMap { tape?.string($0) } }
    public mutating func nextString(like known: String) -> String? { take().flatMap { tape?.string($0, like: known) } }
    public mutating func nextBytes() -> [UInt8]? { take().flatMap { tape?.bytes($0) } }
    public mutating func nextLetter() -> UInt8? { take().flatMap { tape?.letter($0) } }
    public mutating func nextInteger() -> Int64? { take().flatMap { tape?.integer($0) } }
    /// True if the next element is a string or a status.
    public mutating func nextIsText() -> Bool { take()?.kind == .text }
    public mutating func skip() { _ = take() }

    @inline(__always)
    private mutating func take() -> ReplyTape.Item? {
      guard left > 0, let tape else { return nil }
      left -= 1
      let item = tape.items[position]
      position = Int(item.end)
      return item
    }
  }
}
