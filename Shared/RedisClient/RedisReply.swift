/// What Redis answered (RESP2): a place in a reply that is kept as it was read.
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

  /// No value.
  public static let null = RedisReply(ReplyTape.Item(kind: .null), in: nil, at: 0)

  public var isNull: Bool { item.kind == .null }

  /// A simple or a bulk string, as text.
  public var string: String? { item.kind == .text ? text : nil }

  /// The same; where it is the given text, that is answered and none is made.
  public func string(like known: String) -> String? {
    guard item.kind == .text else { return nil }
    guard let tape, known.utf8.count == Int(item.count) else { return text }
    let isKnown = known.utf8.withContiguousStorageIfAvailable { known in
      tape.bytes.withUnsafeBufferPointer { bytes in known.indices.allSatisfy { known[$0] == bytes[Int(item.value) + $0] } }
    }
    return isKnown == true ? known : text
  }

  /// A simple or a bulk string.
  public var bytes: [UInt8]? { item.kind == .text ? tape.map { Array($0.bytes[range]) } : nil }

  /// The byte of a string of one.
  public var letter: UInt8? {
    guard item.kind == .text, item.count == 1, let tape else { return nil }
    return tape.bytes[Int(item.value)]
  }

  /// Redis refused the command; its own words.
  public var error: String? { item.kind == .error ? text : nil }

  /// An integer, also when it stands as text.
  public var integer: Int64? {
    switch item.kind {
    case .integer: item.value
    case .text: tape.flatMap { Self.decimal($0.bytes[range]) }
    default: nil
    }
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
  }

  private var range: Range<Int> { Int(item.value)..<Int(item.value) + Int(item.count) }

  private var text: String { tape.map { String(decoding: $0.bytes[range], as: UTF8.self) } ?? "" }

  private static func decimal(_ digits: ArraySlice<UInt8>) -> Int64? {
    let isNegative = digits.first == UInt8(ascii: "-")
    let digits = isNegative ? digits.dropFirst() : digits
    guard !digits.isEmpty else { return nil }
    var value: Int64 = 0
    for digit in digits {
      guard (48...57).contains(digit) else { return nil }
      let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      // Counted downwards, since the least number has no positive one.
      let (sum, isTooSmall) = tens.subtractingReportingOverflow(Int64(digit - 48))
      guard !isTooLarge, !isTooSmall else { return nil }
      value = sum
    }
    guard !isNegative else { return value }
    return value == .min ? nil : -value
  }
}
