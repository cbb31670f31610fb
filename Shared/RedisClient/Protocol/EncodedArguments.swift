/// The arguments of a command. Each is encoded as a RESP bulk string as soon as it is appended, so that no list of arguments is allocated.
///
/// ```swift
/// var arguments = EncodedArguments()
/// arguments.append("SET")
/// arguments.append("key")
/// arguments.append(Int64(42))
/// ```
public struct EncodedArguments: Sendable {
  /// A list of arguments of at least this encoded size, in bytes, is not copied when it is appended to another one.
  static let largeSize = 4096
  /// The greatest size in bytes of what encloses a bulk string: `$`, the length, and two line ends.
  private static let maxFraming = 25

  /// The chunks before ``current``.
  private var complete: [[UInt8]] = []
  /// The last chunk, to which arguments are appended.
  private var current: [UInt8] = []
  /// The number of arguments.
  public private(set) var count = 0

  /// - Parameter capacity: the approximate encoded size in bytes.
  public init(reserving capacity: Int = 256) { current.reserveCapacity(capacity) }

  public init(_ arguments: [RedisArgument]) {
    self.init(reserving: arguments.reduce(0) { $0 + $1.wireSize })
    for argument in arguments { append(argument) }
  }

  /// The encoded size in bytes.
  var size: Int { complete.reduce(current.count) { $0 + $1.count } }

  /// Calls the closure with each chunk of the encoded bytes, in order.
  func forEachChunk(_ body: ([UInt8]) -> Void) {
    for chunk in complete { body(chunk) }
    if !current.isEmpty { body(current) }
  }

  /// The encoded bytes in several arrays. No argument is split.
  var chunks: [[UInt8]] { complete.isEmpty ? [current] : complete + [current] }

  public mutating func append(_ argument: RedisArgument) {
    switch argument {
    case .string(let text): append(text)
    case .bytes(let bytes): append(bytes)
    case .integer(let value): append(value)
    }
  }

  public mutating func append(_ text: String) {
    let bytes = text.utf8.span
    write(bytes.count) { Self.copy(bytes, to: $0) }
  }

  public mutating func append(_ bytes: [UInt8]) {
    write(bytes.count) { destination in bytes.withUnsafeBufferPointer { Self.copy($0, to: destination) } }
  }

  /// Appends a number in decimal digits.
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
  public mutating func append(contentsOf other: EncodedArguments) {
    count += other.count
    guard other.size >= Self.largeSize else {
      other.forEachChunk { current += $0 }
      return
    }
    complete.append(current)
    complete += other.complete
    complete.append(other.current)
    current = []
  }

  /// Begins a command of ``EncodedCommands``: appends the header of an array of that many arguments.
  mutating func beginCommand(arguments count: Int) {
    let digits = Self.digits(Int64(count))
    current.append(addingCapacity: digits + 3) { span in
      span.withUnsafeMutableBufferPointer { buffer, used in
        guard let destination = buffer.baseAddress.map({ $0 + used }) else { return }
        destination[0] = UInt8(ascii: "*")
        Self.decimal(Int64(count), digits, to: destination + 1)
        Self.endLine(destination + 1 + digits)
        used += digits + 3
      }
    }
  }

  /// Removes all arguments, and keeps the allocated memory.
  public mutating func removeAll() {
    complete.removeAll()
    current.removeAll(keepingCapacity: true)
    count = 0
  }

  /// The decoded arguments, for assertions.
  public var decoded: [[UInt8]] {
    var bytes: [UInt8] = []
    forEachChunk { bytes += $0 }
    var arguments: [[UInt8]] = []
    var position = 0
    while position < bytes.count {
      let end = bytes[position...].firstIndex(of: 13) ?? bytes.count
      let length = bytes[(position + 1)..<end].reduce(0) { $0 * 10 + Int($1 - 48) }
      arguments.append(Array(bytes[(end + 2)..<(end + 2 + length)]))
      position = end + length + 4
    }
    return arguments
  }

  /// Appends an argument of that many bytes, which `content` writes to the given memory.
  @inline(__always)
  private mutating func write(_ length: Int, _ content: (UnsafeMutablePointer<UInt8>) -> Void) {
    count += 1
    current.append(addingCapacity: length + Self.maxFraming) { span in
      span.withUnsafeMutableBufferPointer { buffer, used in
        guard var destination = buffer.baseAddress.map({ $0 + used }) else { return }
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

  /// Writes a number of ``digits(_:)`` characters, the last one first.
  @inline(__always)
  private static func decimal(_ value: Int64, _ digits: Int, to destination: UnsafeMutablePointer<UInt8>) {
    var rest = value.magnitude
    var position = digits
    repeat {
      position -= 1
      destination[position] = 48 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if value < 0 { destination[0] = UInt8(ascii: "-") }
  }

  /// The number of characters of a number, including its minus sign.
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
