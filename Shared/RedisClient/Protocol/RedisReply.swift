/// A reply of Redis (RESP2): a position in a ``ReplyTape``.
public struct RedisReply: Sendable {
  let item: ReplyTape.Item
  /// Where the bytes and elements are; nil for what has neither.
  private let tape: ReplyTape?
  private let place: Int

  init(_ item: ReplyTape.Item, in tape: ReplyTape?, at place: Int) {
    self.item = item
    self.tape = tape
    self.place = place
  }

  /// Reads a reply from its encoding (RESP2). Nil if the bytes are not one whole reply with at most 1,000 elements.
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

  /// The same; where it is the given text, that is answered and none is made.
  public func string(like known: String) -> String? { tape?.string(item, like: known) }

  /// A simple or a bulk string.
  public var bytes: [UInt8]? { tape?.bytes(item) }

  /// The byte of a string of one.
  public var letter: UInt8? { tape?.letter(item) }

  /// Redis refused the command; its own words.
  public var error: String? { item.kind == .error ? tape?.text(item) ?? "" : nil }

  /// An integer, also when it stands as text.
  public var integer: Int64? { item.kind == .integer ? item.value : tape?.integer(item) }

  /// The same, apart from the reply that it is in, which is held as long as any part of it.
  public var detached: RedisReply {
    guard let tape, item.kind == .array else { return self }
    let part = ReplyTape(tape, from: place)
    return RedisReply(part.items[0], in: part, at: 0)
  }

  public var array: [RedisReply]? { item.kind == .array ? Array(elements) : nil }

  /// The elements of an array; none of anything else.
  public var elements: Elements {
    Elements(tape: tape, place: place + 1, left: item.kind == .array ? Int(item.count) : 0)
  }

  /// Elements one after the other, without a list of them.
  public struct Elements: Sequence, IteratorProtocol, Sendable {
    fileprivate let tape: ReplyTape?
    fileprivate var place: Int
    fileprivate var left: Int

    public var underestimatedCount: Int { left }

    public mutating func next() -> RedisReply? {
      guard left > 0, let tape else { return nil }
      left -= 1
      let item = tape.items[place]
      defer { place = Int(item.end) }
      return RedisReply(item, in: tape, at: place)
    }

    // The next element as one of its forms, nil where it has another or there is none: without a reply of its own, which holds the tape.

    public mutating func nextString() -> String? { take().flatMap { tape?.string($0) } }
    public mutating func nextString(like known: String) -> String? { take().flatMap { tape?.string($0, like: known) } }
    public mutating func nextBytes() -> [UInt8]? { take().flatMap { tape?.bytes($0) } }
    public mutating func nextLetter() -> UInt8? { take().flatMap { tape?.letter($0) } }
    public mutating func nextInteger() -> Int64? { take().flatMap { tape?.integer($0) } }
    public mutating func skip() { _ = take() }

    @inline(__always)
    private mutating func take() -> ReplyTape.Item? {
      guard left > 0, let tape else { return nil }
      left -= 1
      let item = tape.items[place]
      place = Int(item.end)
      return item
    }
  }
}
