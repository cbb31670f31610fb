/// Writes JSON text, UTF-8, without white space.
public struct JSONWriter: Sendable {
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  public init(reserving capacity: Int = 512) { bytes.reserveCapacity(capacity) }

  /// Starts a new text and keeps the memory.
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

  /// A member's name from the source code, which needs no escaping.
  public mutating func key(_ name: StaticString) {
    write(quoted: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), asKey: true)
    needsComma = false
  }

  /// A member's name that is known only at run time.
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

  /// Writes digits without making a string.
  @usableFromInline
  mutating func decimal(_ value: Int64) {
    separate()
    bytes.appendDecimal(value)
    needsComma = true
  }

  /// A 64-bit integer: a number up to 2^53 − 1, a decimal string beyond.
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

  /// Values from another writer, which are JSON separated by commas.
  public mutating func raw(_ written: [UInt8]) {
    separate()
    bytes.append(contentsOf: written)
    needsComma = true
  }

  /// A text that is JSON.
  public mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func quote(_ value: String, asKey isKey: Bool = false) {
    let isWritten = value.withBytes { write(quoted: $0, asKey: isKey) }
    guard !isWritten else { return }
    separate()
    bytes.append(UInt8(ascii: "\""))
    escape(value)
    bytes.append(UInt8(ascii: "\""))
    if isKey { bytes.append(UInt8(ascii: ":")) }
  }

  /// Writes a string at once, with the comma before it and the colon after a key. If it needs escaping, it writes nothing and returns
  /// false. That is checked while copying, eight bytes at a time; the last eight may overlap the previous ones.
  @discardableResult
  private mutating func write(quoted text: UnsafeBufferPointer<UInt8>, asKey isKey: Bool) -> Bool {
    let isFurther = needsComma
    var isPlain = false
    bytes.append(addingCapacity: text.count + 4) { span in
      span.withUnsafeMutableBufferPointer { room, used in
        guard var place = room.baseAddress.map({ UnsafeMutableRawPointer($0 + used) }) else { return }
        let start = place
        if isFurther {
          place.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
          place += 1
        }
        place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        place += 1
        if let source = text.baseAddress, !Self.copyPlain(UnsafeRawPointer(source), text.count, to: place) { return }
        place += text.count
        place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        place += 1
        if isKey {
          place.storeBytes(of: UInt8(ascii: ":"), as: UInt8.self)
          place += 1
        }
        used += place - start
        isPlain = true
      }
    }
    return isPlain
  }

  /// Copies the bytes. Returns true if nothing needs escaping.
  @inline(__always)
  private static func copyPlain(_ source: UnsafeRawPointer, _ count: Int, to place: UnsafeMutableRawPointer) -> Bool {
    var special: UInt64 = 0
    if count >= 8 {
      var at = 0
      while at + 8 <= count {
        let bytes = source.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        special |= PlainBytes.special(bytes)
        place.storeBytes(of: bytes, toByteOffset: at, as: UInt64.self)
        at += 8
      }
      if at < count {
        let bytes = source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        special |= PlainBytes.special(bytes)
        place.storeBytes(of: bytes, toByteOffset: count - 8, as: UInt64.self)
      }
      return special == 0
    }
    var short: UInt64 = 0
    if count >= 4 {
      let first = source.loadUnaligned(as: UInt32.self)
      let last = source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      place.storeBytes(of: first, as: UInt32.self)
      place.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
      short = UInt64(first) << 32 | UInt64(last)
    } else {
      for at in 0..<count {
        let byte = source.load(fromByteOffset: at, as: UInt8.self)
        place.storeBytes(of: byte, toByteOffset: at, as: UInt8.self)
        short = short << 8 | UInt64(byte)
      }
      // Unused bytes are spaces.
      short |= 0x2020_2020_2020_2020 << UInt64(8 * count)
    }
    return PlainBytes.special(short) == 0
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
