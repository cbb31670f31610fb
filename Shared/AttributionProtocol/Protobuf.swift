/// Writes messages in protobuf's binary format, as far as the details of errors need it (`RPCError+JSON.swift`). Default values are left
/// out.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  mutating func varint(_ field: Int, _ value: UInt64) {
    guard value != 0 else { return }
    append(UInt64(field << 3))
    append(value)
  }

  mutating func string(_ field: Int, _ value: String) {
    guard !value.isEmpty else { return }
    bytes(field, Array(value.utf8))
  }

  mutating func message(_ field: Int, _ write: (inout ProtobufWriter) -> Void) {
    var inner = ProtobufWriter()
    write(&inner)
    bytes(field, inner.bytes)
  }

  private mutating func bytes(_ field: Int, _ value: [UInt8]) {
    append(UInt64(field << 3 | 2))
    append(UInt64(value.count))
    bytes += value
  }

  private mutating func append(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// The fields of one binary message, by field number. Fields after the first one that cannot be read are missing.
struct ProtobufFields {
  private var varints: [Int: UInt64] = [:]
  /// Strings and embedded messages, in their order.
  private var chunks: [(field: Int, bytes: [UInt8])] = []

  init(_ bytes: [UInt8]) {
    var position = 0
    func number() -> UInt64? {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while position < bytes.count, shift < 64 {
        let byte = bytes[position]
        position += 1
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
      return nil
    }
    while position < bytes.count {
      guard let tag = number(), let field = Int(exactly: tag >> 3) else { return }
      // The wire type: 0 is a varint; 2 is a length, followed by that number of bytes.
      switch tag & 7 {
      case 0:
        guard let value = number() else { return }
        varints[field] = value
      case 2:
        guard let length = number(), length <= UInt64(bytes.count - position) else { return }
        chunks.append((field, Array(bytes[position..<position + Int(length)])))
        position += Int(length)
      default: return
      }
    }
  }

  func varint(_ field: Int) -> UInt64? { varints[field] }

  func string(_ field: Int) -> String? {
    chunks.last { $0.field == field }.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  func messages(_ field: Int) -> [ProtobufFields] {
    chunks.filter { $0.field == field }.map { ProtobufFields($0.bytes) }
  }
}

/// Base64 without padding, as Connect writes the details of errors. Decoding also accepts padding and the alphabet for URLs.
enum UnpaddedBase64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var index = 0
    while index < bytes.count {
      let rest = bytes.count - index
      let chunk =
        UInt32(bytes[index]) << 16 | (rest > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
        | (rest > 2 ? UInt32(bytes[index + 2]) : 0)
      // Three bytes give four digits of six bits each; one byte gives two digits, and two bytes give three.
      for digit in 0..<min(rest + 1, 4) { text.append(alphabet[Int(chunk >> UInt32(18 - 6 * digit) & 63)]) }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil if a character belongs to neither alphabet.
  static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer: UInt32 = 0
    var bits = 0
    for character in text.utf8 {
      let value: UInt32
      switch character {
      case 65...90: value = UInt32(character - 65)
      case 97...122: value = UInt32(character - 71)
      case 48...57: value = UInt32(character + 4)
      case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
      case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
      case UInt8(ascii: "="): continue
      default: return nil
      }
      buffer = buffer << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
      }
    }
    return bytes
  }
}
