/// A reply of Redis (RESP2): an item of a ``ReplyTape``.
///
/// ```swift
/// let names = try await client.send(["SMEMBERS", "names"]).elements.compactMap(\.string)
/// ```
public struct RedisReply: Sendable {
  let item: ReplyTape.Item
  /// The tape with the reply's bytes and elements; nil for an integer and for null.
  private let tape: ReplyTape?
  /// The index of the item.
  private let position: Int

  init(_ item: ReplyTape.Item, in tape: ReplyTape?, at position: Int) {
    self.item = item
    self.tape = tape
    self.position = position
  }

  /// Parses an encoded reply (RESP2). Nil if the bytes do not begin with a whole reply of at most 1,000 elements.
  public init?(parsing bytes: [UInt8]) {
    guard let reader = ReplyReader(maxElements: 1000) else { return nil }
    do {
      try bytes.withUnsafeBytes { try reader.feed($0) }
      guard let reply = try reader.next() else { return nil }
      self = reply
    } catch { return nil }
  }

  /// The reply for a value that does not exist.
  public static let null = RedisReply(ReplyTape.Item(kind: .null), in: nil, at: 0)

  public var isNull: Bool { item.kind == .null }

  /// A simple or bulk string as text; nil for any other reply.
  public var string: String? { tape?.string(item) }

  /// Like ``string``, but returns `known` if the text equals it, so that no string is allocated.
  public func string(like known: String) -> String? { tape?.string(item, like: known) }

  /// The bytes of a simple or bulk string; nil for any other reply.
  public var bytes: [UInt8]? { tape?.bytes(item) }

  /// The byte of a string that consists of one byte; nil for any other reply.
  public var singleByte: UInt8? { tape?.singleByte(item) }

  /// The text of an error reply; nil for any other reply.
  public var error: String? { item.kind == .error ? tape?.text(item) ?? "" : nil }

  /// An integer, also if it is sent as a string; nil for any other reply.
  public var integer: Int64? { item.kind == .integer ? item.value : tape?.integer(item) }

  /// A copy of this array alone. Without it, an element keeps its whole reply in memory. Any other reply is returned as it is.
  public var detached: RedisReply {
    guard let tape, item.kind == .array else { return self }
    let part = ReplyTape(tape, from: position)
    return RedisReply(part.items[0], in: part, at: 0)
  }

  /// The elements of an array; nil for any other reply.
  public var array: [RedisReply]? { item.kind == .array ? Array(elements) : nil }

  /// The elements of an array; empty for any other reply.
  public var elements: Elements {
    Elements(tape: tape, position: position + 1, remaining: item.kind == .array ? Int(item.count) : 0)
  }

  /// The elements of an array, and an iterator over them, which allocates nothing.
  public struct Elements: Sequence, IteratorProtocol, Sendable {
    fileprivate let tape: ReplyTape?
    fileprivate var position: Int
    fileprivate var remaining: Int

    public var underestimatedCount: Int { remaining }

    public mutating func next() -> RedisReply? {
      guard remaining > 0, let tape else { return nil }
      remaining -= 1
      let item = tape.items[position]
      defer { position = Int(item.end) }
      return RedisReply(item, in: tape, at: position)
    }

    // These functions move to the next element and return it as the type in their name; nil if it has another type or there is none. Unlike
    // ``next()`` they create no ``RedisReply``, which would retain the tape.

    public mutating func nextString() -> String? { nextItem().flatMap { tape?.string($0) } }
    public mutating func nextString(like known: String) -> String? { nextItem().flatMap { tape?.string($0, like: known) } }
    public mutating func nextBytes() -> [UInt8]? { nextItem().flatMap { tape?.bytes($0) } }
    public mutating func nextSingleByte() -> UInt8? { nextItem().flatMap { tape?.singleByte($0) } }
    public mutating func nextInteger() -> Int64? { nextItem().flatMap { tape?.integer($0) } }
    /// True if the next element is a simple or bulk string.
    public mutating func nextIsText() -> Bool { nextItem()?.kind == .text }
    /// Skips the next element.
    public mutating func skip() { _ = nextItem() }

    @inline(__always)
    private mutating func nextItem() -> ReplyTape.Item? {
      guard remaining > 0, let tape else { return nil }
      remaining -= 1
      let item = tape.items[position]
      position = Int(item.end)
      return item
    }
  }
}
