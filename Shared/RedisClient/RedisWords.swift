/// The words of a command, written as Redis reads them (RESP's bulk strings) as soon as they are known: no list of them is kept.
public struct RedisWords: Sendable {
  /// Each word with its length before it.
  private(set) var bytes: [UInt8] = []
  public private(set) var count = 0

  /// `capacity`: about how many bytes the words will take.
  public init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  public init(_ words: [RedisArgument]) {
    self.init(reserving: words.reduce(0) { $0 + $1.wireSize })
    for word in words { append(word) }
  }

  public mutating func append(_ word: RedisArgument) {
    switch word {
    case .string(let text): append(text)
    case .bytes(let bytes): append(bytes)
    case .integer(let value): append(value)
    }
  }

  public mutating func append(_ text: String) {
    begin(text.utf8.count)
    add(text)
    end()
  }

  public mutating func append(_ word: [UInt8]) {
    begin(word.count)
    bytes.append(contentsOf: word)
    end()
  }

  public mutating func append(_ value: Int64) {
    begin(Self.digits(value))
    decimal(value)
    end()
  }

  /// One word of two texts.
  public mutating func append(_ first: String, _ second: some StringProtocol) {
    begin(first.utf8.count + second.utf8.count)
    add(first)
    add(second)
    end()
  }

  /// One word of a text and a number behind it.
  public mutating func append(_ text: String, _ value: Int64) {
    begin(text.utf8.count + Self.digits(value))
    add(text)
    decimal(value)
    end()
  }

  public mutating func append(contentsOf words: RedisWords) {
    bytes.append(contentsOf: words.bytes)
    count += words.count
  }

  /// The words again: for checks of what was written.
  public var words: [[UInt8]] {
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

  private mutating func begin(_ length: Int) {
    count += 1
    bytes.append(UInt8(ascii: "$"))
    decimal(Int64(length))
    end()
  }

  private mutating func end() {
    bytes.append(13)
    bytes.append(10)
  }

  private mutating func add(_ text: some StringProtocol) {
    // `withUTF8` would copy the text, whose count of references is written then.
    if text.utf8.withContiguousStorageIfAvailable({ bytes.append(contentsOf: $0) }) == nil { bytes.append(contentsOf: text.utf8) }
  }

  private mutating func decimal(_ value: Int64) {
    guard value < 0 || value > 9 else { return bytes.append(48 + UInt8(value)) }
    // The longest is -9223372036854775808.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var first = 20
      var rest = value.magnitude
      while rest > 0 {
        first -= 1
        digits[first] = 48 + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      if value < 0 {
        first -= 1
        digits[first] = UInt8(ascii: "-")
      }
      bytes.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[first...]))
    }
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
