/// Encodes MessagePack for Redis scripts, which decode it with `cmsgpack.unpack`.
///
///     var pack = MessagePackWriter()
///     pack.beginMap()
///     pack.put("lines", prefix)
///     pack.end()
struct MessagePackWriter {
  private(set) var bytes: [UInt8] = []
  /// The open maps and lists, innermost last: the offset of the two bytes for the count, and the count so far.
  private var open: [(offset: Int, count: UInt16)] = []

  init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  /// Begins a map. ``key(_:)`` must be called before each value, and ``end()`` after the last.
  mutating func beginMap() { begin(0xDE) }

  /// Begins a list. ``element()`` must be called before each value, and ``end()`` after the last.
  mutating func beginList() { begin(0xDC) }

  private mutating func begin(_ kind: UInt8) {
    bytes.append(kind)
    open.append((bytes.count, 0))
    bytes.append(0)
    bytes.append(0)
  }

  /// Ends the innermost map or list.
  mutating func end() {
    guard let (offset, count) = open.popLast() else { return }
    bytes[offset] = UInt8(truncatingIfNeeded: count >> 8)
    bytes[offset + 1] = UInt8(truncatingIfNeeded: count)
  }

  /// Appends a list of values that were encoded one after the other.
  mutating func list(of count: Int, _ values: MessagePackWriter) {
    number(0xDC, UInt64(count), width: 2)
    append(values)
  }

  /// Appends values that were encoded before.
  mutating func append(_ values: MessagePackWriter) { bytes.append(contentsOf: values.bytes) }

  /// Writes the name of the next value; at most 31 bytes.
  mutating func key(_ name: StaticString) {
    open[open.count - 1].count += 1
    name.withUTF8Buffer { name in
      precondition(name.count < 32)
      bytes.append(0xA0 | UInt8(name.count))
      bytes.append(contentsOf: name)
    }
  }

  /// Counts the next value as an element of the innermost list.
  mutating func element() { open[open.count - 1].count += 1 }

  // The functions `put` write a name and its value in one call.
  mutating func put(_ name: StaticString, _ value: String) {
    key(name)
    string(value)
  }

  mutating func put(_ name: StaticString, _ value: [UInt8]) {
    key(name)
    string(value)
  }

  mutating func put(_ name: StaticString, _ value: Int) {
    key(name)
    int(value)
  }

  /// Writes a flag that is true; a missing flag is false.
  mutating func put(flag name: StaticString) {
    key(name)
    bool(true)
  }

  mutating func put(_ name: StaticString, map: (inout MessagePackWriter) -> Void) {
    key(name)
    beginMap()
    map(&self)
    end()
  }

  mutating func string(_ text: String) {
    var text = text
    text.withUTF8 { string($0) }
  }

  mutating func string(_ text: Substring) {
    var text = text
    text.withUTF8 { string($0) }
  }

  /// Writes the concatenation of two texts.
  mutating func string(_ first: String, _ second: Substring) {
    header(ofString: first.utf8.count + second.utf8.count)
    bytes.append(contentsOf: first.utf8)
    bytes.append(contentsOf: second.utf8)
  }

  mutating func string(_ text: [UInt8]) { text.withUnsafeBufferPointer { string($0) } }

  private mutating func string(_ text: UnsafeBufferPointer<UInt8>) {
    header(ofString: text.count)
    bytes.append(contentsOf: text)
  }

  private mutating func header(ofString count: Int) {
    switch count {
    case ..<32: bytes.append(0xA0 | UInt8(count))
    case ..<65_536: number(0xDA, UInt64(count), width: 2)
    default: number(0xDB, UInt64(count), width: 4)
    }
  }

  /// Writes a number. Lua numbers are exact up to 53 bits. A larger value, which only damaged data has, is replaced by the nearest exact
  /// one; numbers that can be larger must be written as text.
  mutating func int(_ value: Int) {
    let value = min(max(value, -(1 << 53) + 1), (1 << 53) - 1)
    if (0..<128).contains(value) { bytes.append(UInt8(value)) } else { number(0xD3, UInt64(bitPattern: Int64(value)), width: 8) }
  }

  mutating func bool(_ value: Bool) { bytes.append(value ? 0xC3 : 0xC2) }

  private mutating func number(_ kind: UInt8, _ value: UInt64, width: Int) {
    bytes.append(kind)
    for byte in (0..<width).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(byte)))) }
  }
}
