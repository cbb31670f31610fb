/// The arguments of a command, encoded as RESP bulk strings as soon as they are known, so that no list of arguments is allocated.
public struct EncodedArguments: Sendable {
  /// Appended arguments of at least this length, in bytes, are not copied.
  static let long = 4096
  /// The greatest size of a bulk string's framing: `$`, a length, and two line ends.
  private static let frame = 25

  /// The arrays before ``open``.
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
    write(word.count) { destination in word.withUnsafeBufferPointer { Self.copy($0, to: destination) } }
  }

  public mutating func append(_ value: Int64) { append("", value) }

  /// Appends the concatenation of two texts as one argument.
  public mutating func append(_ first: String, _ second: Substring) {
    let (start, end) = (first.utf8.span, second.utf8.span)
    write(start.count + end.count) { destination in
      Self.copy(start, to: destination)
      Self.copy(end, to: destination + start.count)
    }
  }

  /// Appends a text followed by a number as one argument.
  public mutating func append(_ text: String, _ value: Int64) {
    let bytes = text.utf8.span
    let digits = Self.digits(value)
    write(bytes.count + digits) { destination in
      Self.copy(bytes, to: destination)
      Self.decimal(value, digits, to: destination + bytes.count)
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

  /// Begins a command of ``EncodedCommands``: appends the header of an array of that many arguments.
  mutating func beginCommand(words count: Int) {
    let digits = Self.digits(Int64(count))
    open.append(addingCapacity: digits + 3) { span in
      span.withUnsafeMutableBufferPointer { room, used in
        guard let destination = room.baseAddress.map({ $0 + used }) else { return }
        destination[0] = UInt8(ascii: "*")
        Self.decimal(Int64(count), digits, to: destination + 1)
        Self.endLine(destination + 1 + digits)
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

  /// Appends an argument of that many bytes, which `content` writes in destination.
  @inline(__always)
  private mutating func write(_ length: Int, _ content: (UnsafeMutablePointer<UInt8>) -> Void) {
    count += 1
    open.append(addingCapacity: length + Self.frame) { span in
      span.withUnsafeMutableBufferPointer { room, used in
        guard var destination = room.baseAddress.map({ $0 + used }) else { return }
        let digits = Self.digits(Int64(length))
        destination[0] = UInt8(ascii: "$")
        Self.decimal(Int64(length), digits, to: destination + 1)
        destination += digits + 1
        Self.endLine(destination)
        content(destination + 2)
        Self.endLine(destination + 2 + length)
        used += digits + length + 5
      }
    }
  }

  @inline(__always)
  private static func endLine(_ destination: UnsafeMutablePointer<UInt8>) {
    destination[0] = 13
    destination[1] = 10
  }

  @inline(__always)
  private static func copy(_ bytes: UnsafeBufferPointer<UInt8>, to destination: UnsafeMutablePointer<UInt8>) {
    if let start = bytes.baseAddress { destination.update(from: start, count: bytes.count) }
  }

  @inline(__always)
  private static func copy(_ bytes: Span<UInt8>, to destination: UnsafeMutablePointer<UInt8>) {
    bytes.withUnsafeBufferPointer { copy($0, to: destination) }
  }

  /// Writes a number backwards into a space of ``digits(_:)`` bytes.
  @inline(__always)
  private static func decimal(_ value: Int64, _ digits: Int, to destination: UnsafeMutablePointer<UInt8>) {
    var rest = value.magnitude
    var at = digits
    repeat {
      at -= 1
      destination[at] = 48 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if value < 0 { destination[0] = UInt8(ascii: "-") }
  }

  /// The number of characters of a number.
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
