import NIOCore

/// The words of a command, written as Redis reads them (RESP's bulk strings) as soon as they are known: no list of them is kept. What is
/// long leaves from where it was written.
public struct RedisWords: Sendable {
  /// From this length on, bytes, words that are taken over stay where they are.
  static let long = 4096
  /// `$`, a length, and two line ends.
  private static let frame = 25

  /// What is before ``open``.
  private var closed: [ByteBuffer] = []
  private var open: ByteBuffer
  public private(set) var count = 0

  /// `capacity`: about how many bytes the words will take.
  public init(reserving capacity: Int = 256) { open = ByteBufferAllocator().buffer(capacity: capacity) }

  public init(_ words: [RedisArgument]) {
    self.init(reserving: words.reduce(0) { $0 + $1.wireSize })
    for word in words { append(word) }
  }

  /// How many bytes they take.
  var size: Int { closed.reduce(open.readableBytes) { $0 + $1.readableBytes } }

  /// Their bytes, one buffer behind the other.
  func forEachPiece(_ body: (ByteBuffer) -> Void) {
    for piece in closed { body(piece) }
    if open.readableBytes > 0 { body(open) }
  }

  public mutating func append(_ word: RedisArgument) {
    switch word {
    case .string(let text): append(text)
    case .bytes(let bytes): append(bytes)
    case .integer(let value): append(value)
    }
  }

  public mutating func append(_ text: String) { append(text, "") }

  public mutating func append(_ word: [UInt8]) {
    write(word.count) { place in word.withUnsafeBytes { place.copyMemory(from: $0) } }
  }

  public mutating func append(_ value: Int64) { append("", value) }

  /// One word of two texts.
  public mutating func append(_ first: String, _ second: some StringProtocol) {
    let length = first.utf8.count
    write(length + second.utf8.count) { place in
      Self.copy(first, to: place)
      Self.copy(second, to: UnsafeMutableRawBufferPointer(rebasing: place[length...]))
    }
  }

  /// One word of a text and a number behind it.
  public mutating func append(_ text: String, _ value: Int64) {
    let length = text.utf8.count
    write(length + Self.digits(value)) { place in
      Self.copy(text, to: place)
      Self.decimal(value, to: UnsafeMutableRawBufferPointer(rebasing: place[length...]))
    }
  }

  /// Takes the words of another over.
  public mutating func append(contentsOf words: RedisWords) {
    count += words.count
    guard words.size >= Self.long else {
      words.forEachPiece { open.writeImmutableBuffer($0) }
      return
    }
    closed.append(open)
    closed += words.closed
    closed.append(words.open)
    open = ByteBuffer()
  }

  /// The words again: for checks of what was written.
  public var words: [[UInt8]] {
    var bytes: [UInt8] = []
    forEachPiece { bytes += $0.readableBytesView }
    var words: [[UInt8]] = []
    var at = 0
    while at < bytes.count {
      let end = bytes[at...].firstIndex(of: 13) ?? bytes.count
      let length = bytes[(at + 1)..<end].reduce(0) { $0 * 10 + Int($1 - 48) }
      words.append(Array(bytes[(end + 2)..<(end + 2 + length)]))
      at = end + length + 4
    }
    return words
  }

  /// A word of so many bytes, written where it is to stand.
  private mutating func write(_ length: Int, _ content: (UnsafeMutableRawBufferPointer) -> Void) {
    count += 1
    _ = open.writeWithUnsafeMutableBytes(minimumWritableBytes: length + Self.frame) { room in
      room[0] = UInt8(ascii: "$")
      let digits = Self.digits(Int64(length))
      Self.decimal(Int64(length), to: UnsafeMutableRawBufferPointer(rebasing: room[1..<1 + digits]))
      let start = digits + 3
      Self.endLine(room, at: start - 2)
      content(UnsafeMutableRawBufferPointer(rebasing: room[start..<start + length]))
      Self.endLine(room, at: start + length)
      return start + length + 2
    }
  }

  private static func endLine(_ room: UnsafeMutableRawBufferPointer, at place: Int) {
    room[place] = 13
    room[place + 1] = 10
  }

  private static func copy(_ text: some StringProtocol, to place: UnsafeMutableRawBufferPointer) {
    // `withUTF8` would copy the text, whose count of references is written then.
    if text.utf8.withContiguousStorageIfAvailable({ place.copyMemory(from: UnsafeRawBufferPointer($0)) }) == nil {
      place.copyBytes(from: text.utf8)
    }
  }

  /// Writes a number from behind into a place of ``digits(_:)`` bytes.
  private static func decimal(_ value: Int64, to place: UnsafeMutableRawBufferPointer) {
    var rest = value.magnitude
    var at = place.count
    repeat {
      at -= 1
      place[at] = 48 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if value < 0 { place[0] = UInt8(ascii: "-") }
  }

  /// How many characters a number has.
  static func digits(_ value: Int64) -> Int {
    var rest = value.magnitude / 10
    var count = value < 0 ? 2 : 1
    while rest > 0 {
      count += 1
      rest /= 10
    }
    return count
  }
}
