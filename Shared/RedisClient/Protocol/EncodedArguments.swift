/// The arguments of a command, encoded as RESP bulk strings as soon as they are known, so that no list of arguments is allocated.
public struct EncodedArguments: Sendable {
  /// Appended arguments of at least this length, in bytes, are not copied.
  static let long = 4096
  /// `$`, a length, and two line ends.
  private static let frame = 25

  /// What is before ``open``.
  private var closed: [[UInt8]] = []
  private var open: [UInt8] = []
  public private(set) var count = 0

  /// `capacity`: the approximate encoded size, bytes.
  public init(reserving capacity: Int = 256) { open.reserveCapacity(capacity) }

  public init(_ words: [RedisArgument]) {
    self.init(reserving: words.reduce(0) { $0 + $1.wireSize })
    for word in words { append(word) }
  }

  /// The encoded size, bytes.
  var size: Int { closed.reduce(open.count) { $0 + $1.count } }

  /// The encoded bytes in one array.
  func forEachPiece(_ body: ([UInt8]) -> Void) {
    for piece in closed { body(piece) }
    if !open.isEmpty { body(open) }
  }

  /// The encoded bytes as several arrays; no argument is split.
  var pieces: [[UInt8]] { closed.isEmpty ? [open] : closed + [open] }

  public mutating func append(_ word: RedisArgument) {
    switch word {
    case .string(let text): append(text)
    case .bytes(let bytes): append(bytes)
    case .integer(let value): append(value)
    }
  }

  public mutating func append(_ text: String) {
    let bytes = text.utf8.span
    write(bytes.count) { Self.copy(bytes, to: $0) }
  }

  public mutating func append(_ word: [UInt8]) {
    write(word.count) { place in word.withUnsafeBufferPointer { Self.copy($0, to: place) } }
  }

  public mutating func append(_ value: Int64) { append("", value) }

  /// Appends the concatenation of two texts as one argument.
  public mutating func append(_ first: String, _ second: Substring) {
    let (start, end) = (first.utf8.span, second.utf8.span)
    write(start.count + end.count) { place in
      Self.copy(start, to: place)
      Self.copy(end, to: place + start.count)
    }
  }

  /// Appends a text followed by a number as one argument.
  public mutating func append(_ text: String, _ value: Int64) {
    let bytes = text.utf8.span
    let digits = Self.digits(value)
    write(bytes.count + digits) { place in
      Self.copy(bytes, to: place)
      Self.decimal(value, digits, to: place + bytes.count)
    }
  }

  /// Appends the arguments of another list.
  public mutating func append(contentsOf words: EncodedArguments) {
    count += words.count
    guard words.size >= Self.long else {
      words.forEachPiece { open += $0 }
      return
    }
    closed.append(open)
    closed += words.closed
    closed.append(words.open)
    open = []
  }

  /// Begins a command of ``EncodedCommands``: the header of an array of so many words.
  mutating func beginCommand(words count: Int) {
    let digits = Self.digits(Int64(count))
    open.append(addingCapacity: digits + 3) { span in
      span.withUnsafeMutableBufferPointer { room, used in
        guard let place = room.baseAddress.map({ $0 + used }) else { return }
        place[0] = UInt8(ascii: "*")
        Self.decimal(Int64(count), digits, to: place + 1)
        Self.endLine(place + 1 + digits)
        used += digits + 3
      }
    }
  }

  /// Removes all arguments and keeps the memory.
  public mutating func removeAll() {
    closed.removeAll()
    open.removeAll(keepingCapacity: true)
    count = 0
  }

  /// The decoded arguments, for assertions.
  public var words: [[UInt8]] {
    var bytes: [UInt8] = []
    forEachPiece { bytes += $0 }
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
  @inline(__always)
  private mutating func write(_ length: Int, _ content: (UnsafeMutablePointer<UInt8>) -> Void) {
    count += 1
    open.append(addingCapacity: length + Self.frame) { span in
      span.withUnsafeMutableBufferPointer { room, used in
        guard var place = room.baseAddress.map({ $0 + used }) else { return }
        let digits = Self.digits(Int64(length))
        place[0] = UInt8(ascii: "$")
        Self.decimal(Int64(length), digits, to: place + 1)
        place += digits + 1
        Self.endLine(place)
        content(place + 2)
        Self.endLine(place + 2 + length)
        used += digits + length + 5
      }
    }
  }

  @inline(__always)
  private static func endLine(_ place: UnsafeMutablePointer<UInt8>) {
    place[0] = 13
    place[1] = 10
  }

  @inline(__always)
  private static func copy(_ bytes: UnsafeBufferPointer<UInt8>, to place: UnsafeMutablePointer<UInt8>) {
    if let start = bytes.baseAddress { place.update(from: start, count: bytes.count) }
  }

  @inline(__always)
  private static func copy(_ bytes: Span<UInt8>, to place: UnsafeMutablePointer<UInt8>) {
    bytes.withUnsafeBufferPointer { copy($0, to: place) }
  }

  /// Writes a number from behind into a place of ``digits(_:)`` bytes.
  @inline(__always)
  private static func decimal(_ value: Int64, _ digits: Int, to place: UnsafeMutablePointer<UInt8>) {
    var rest = value.magnitude
    var at = digits
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
