/// Writes JSON text, UTF-8, without white space.
public struct JSONWriter: Sendable {
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  public init(reserving capacity: Int = 512) { bytes.reserveCapacity(capacity) }

  /// Begins anew, in the room that there is.
  public mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  public mutating func beginObject() {
    separate()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
  }

  public mutating func endObject() {
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  public mutating func beginArray() {
    separate()
    bytes.append(UInt8(ascii: "["))
    needsComma = false
  }

  public mutating func endArray() {
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// A member's name that needs no escaping: one written in the source.
  public mutating func key(_ name: StaticString) {
    write(quoted: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), asKey: true)
    needsComma = false
  }

  /// A member's name known only when running.
  public mutating func key(dynamic name: String) {
    quote(name, asKey: true)
    needsComma = false
  }

  public mutating func string(_ value: String) {
    quote(value)
    needsComma = true
  }

  public mutating func bool(_ value: Bool) {
    raw(value ? "true" : "false")
  }

  public mutating func null() { raw("null") }

  @inlinable
  public mutating func int(_ value: some FixedWidthInteger) {
    if let value = Int64(exactly: value) { decimal(value) } else { raw(String(value)) }
  }

  /// Digits, without a text in between.
  @usableFromInline
  mutating func decimal(_ value: Int64) {
    separate()
    bytes.appendDecimal(value)
    needsComma = true
  }

  /// A 64-bit integer by `rpc-protocol.md` section 5: a number up to 2^53 − 1, a decimal string beyond.
  public mutating func int64(_ value: Int64) {
    if value.magnitude < 1 << 53 { decimal(value) } else { string(String(value)) }
  }

  public mutating func uint64(_ value: UInt64) {
    if value < 1 << 53 { int(value) } else { string(String(value)) }
  }

  /// NaN and the infinities take their string forms of proto3 JSON.
  public mutating func double(_ value: Double) {
    if let number = JSONNumber(value) {
      raw(number.text)
    } else {
      string(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
    }
  }

  public mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .number(let number): raw(number.text)
    case .string(let text): string(text)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let object): self.object(object)
    }
  }

  public mutating func object(_ object: JSONObject) {
    beginObject()
    for member in object.members {
      key(dynamic: member.key)
      value(member.value)
    }
    endObject()
  }

  /// Values that are JSON already, separated by commas: what another writer wrote.
  public mutating func raw(_ written: [UInt8]) {
    separate()
    bytes.append(contentsOf: written)
    needsComma = true
  }

  /// Text that is JSON already.
  public mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func quote(_ value: String, asKey isKey: Bool = false) {
    let isPlain = value.withBytes { utf8 in
      guard Self.isPlain(utf8) else { return false }
      write(quoted: utf8, asKey: isKey)
      return true
    }
    guard !isPlain else { return }
    separate()
    bytes.append(UInt8(ascii: "\""))
    escape(value)
    bytes.append(UInt8(ascii: "\""))
    if isKey { bytes.append(UInt8(ascii: ":")) }
  }

  /// Whether nothing in it is to be escaped. Eight bytes at a time: of each, its highest bit is set in the end where it is one of those.
  private static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    let raw = UnsafeRawBufferPointer(utf8)
    var at = 0
    while at + 8 <= raw.count {
      let bytes = raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      let quote = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslash = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
      // Where a byte is less than n, taking n from it borrows. A borrow may reach the byte above and call it special too: then they are
      // looked at one by one.
      let below = (bytes &- ones &* 0x20) & ~bytes
      if (below | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highs != 0 { break }
      at += 8
    }
    while at < raw.count {
      let byte = raw[at]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
      at += 1
    }
    return true
  }

  /// In one piece: with the comma before it, and the colon behind a key.
  private mutating func write(quoted plain: UnsafeBufferPointer<UInt8>, asKey isKey: Bool) {
    let isFurther = needsComma
    bytes.append(addingCapacity: plain.count + 4) { span in
      if isFurther { span.append(UInt8(ascii: ",")) }
      span.append(UInt8(ascii: "\""))
      span.withUnsafeMutableBufferPointer { room, count in
        _ = UnsafeMutableBufferPointer(rebasing: room[count...]).initialize(fromContentsOf: plain)
        count += plain.count
      }
      span.append(UInt8(ascii: "\""))
      if isKey { span.append(UInt8(ascii: ":")) }
    }
  }

  private mutating func escape(_ value: String) {
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20:
        let hex = String(byte, radix: 16)
        bytes.append(contentsOf: (byte < 16 ? "\\u000" : "\\u00").utf8)
        bytes.append(contentsOf: hex.utf8)
      default: bytes.append(byte)
      }
    }
  }
}
