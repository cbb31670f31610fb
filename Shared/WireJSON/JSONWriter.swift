/// Writes JSON text in UTF-8, without white space. It adds commas and colons by itself. It does not check that objects and arrays are
/// ended, nor that each member has a key and a value.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.key("id")
/// writer.int(1)
/// writer.endObject()  // writer.text is {"id":1}
/// ```
public struct JSONWriter: Sendable {
  public private(set) var bytes: [UInt8] = []
  /// True if a comma must precede the next key or value.
  private var needsComma = false

  public init(reserving capacity: Int = 512) { bytes.reserveCapacity(capacity) }

  /// Begins a new text, and keeps the allocated memory.
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

  /// Writes a member's name, a literal in the source code. The name must need no escaping.
  public mutating func key(_ name: StaticString) {
    write(quoted: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), asKey: true)
    needsComma = false
  }

  /// Writes a member's name that is known only at run time, and escapes it if necessary.
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

  /// Writes an integer as a number, whatever its size. Unlike ``int64(_:)``, never as a string.
  @inlinable
  public mutating func int(_ value: some FixedWidthInteger) {
    if let value = Int64(exactly: value) { decimal(value) } else { raw(String(value)) }
  }

  /// Writes digits without creating a string.
  @usableFromInline
  mutating func decimal(_ value: Int64) {
    separate()
    bytes.appendDecimal(value)
    needsComma = true
  }

  /// Writes a 64-bit integer as a number, or as a decimal string if its magnitude exceeds 2^53 − 1, because many readers would round it.
  public mutating func int64(_ value: Int64) {
    if value.magnitude < 1 << 53 { decimal(value) } else { string(String(value)) }
  }

  /// Like ``int64(_:)``.
  public mutating func uint64(_ value: UInt64) {
    if value < 1 << 53 { int(value) } else { string(String(value)) }
  }

  /// Writes a number. NaN and the infinities are written as strings, as in proto3 JSON: `"NaN"`, `"Infinity"`, `"-Infinity"`.
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

  /// Writes the text of another writer unchanged: one value, or several separated by commas.
  public mutating func raw(_ written: [UInt8]) {
    separate()
    bytes.append(contentsOf: written)
    needsComma = true
  }

  /// Writes JSON text unchanged. The caller must make sure that it is valid JSON.
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

  /// Writes a string in quotes, with the comma before it and the colon after a key. Writes nothing and returns false if the string needs
  /// escaping, which is checked while it is copied.
  @discardableResult
  private mutating func write(quoted text: UnsafeBufferPointer<UInt8>, asKey isKey: Bool) -> Bool {
    let separates = needsComma
    var isPlain = false
    bytes.append(addingCapacity: text.count + 4) { span in
      span.withUnsafeMutableBufferPointer { buffer, used in
        guard var target = buffer.baseAddress.map({ UnsafeMutableRawPointer($0 + used) }) else { return }
        let start = target
        if separates {
          target.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
          target += 1
        }
        target.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        target += 1
        if let source = text.baseAddress, !Self.copyPlain(UnsafeRawPointer(source), text.count, to: target) { return }
        target += text.count
        target.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        target += 1
        if isKey {
          target.storeBytes(of: UInt8(ascii: ":"), as: UInt8.self)
          target += 1
        }
        used += target - start
        isPlain = true
      }
    }
    return isPlain
  }

  /// Copies the bytes, eight at a time. The last eight may overlap the ones before them. Returns true if no byte needs escaping.
  @inline(__always)
  private static func copyPlain(_ source: UnsafeRawPointer, _ count: Int, to target: UnsafeMutableRawPointer) -> Bool {
    var special: UInt64 = 0
    if count >= 8 {
      var offset = 0
      while offset + 8 <= count {
        let bytes = source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        special |= PlainBytes.special(bytes)
        target.storeBytes(of: bytes, toByteOffset: offset, as: UInt64.self)
        offset += 8
      }
      if offset < count {
        let bytes = source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        special |= PlainBytes.special(bytes)
        target.storeBytes(of: bytes, toByteOffset: count - 8, as: UInt64.self)
      }
      return special == 0
    }
    var short: UInt64 = 0
    if count >= 4 {
      let first = source.loadUnaligned(as: UInt32.self)
      let last = source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      target.storeBytes(of: first, as: UInt32.self)
      target.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
      short = UInt64(first) << 32 | UInt64(last)
    } else {
      for offset in 0..<count {
        let byte = source.load(fromByteOffset: offset, as: UInt8.self)
        target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        short = short << 8 | UInt64(byte)
      }
      // The unused bytes become spaces, which need no escaping.
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
