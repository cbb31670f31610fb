/// The payload of a delayed message, as the scripts encode it in MessagePack (accept.lua): `{kind, body, envelope, attempts, history, line
/// or false, deadline or nil}`.
struct PackedPayload {
  let kind: String
  let body: [UInt8]
  let envelope: [UInt8]
  let history: String
  let line: String?

  private enum Value {
    case text([UInt8]), number, other
  }

  /// Returns nil for bytes that are not a message to `append` in payload.lua either.
  init?(_ bytes: [UInt8]) {
    var reader = Reader(bytes: bytes)
    guard let count = reader.beginList(), count >= 5 else { return nil }
    var values: [Value] = []
    for _ in 0..<min(count, 7) {
      guard let value = reader.next() else { return nil }
      values.append(value)
    }
    guard case .text(let kind) = values[0], case .text(let body) = values[1], case .text(let envelope) = values[2],
      case .number = values[3], case .text(let history) = values[4]
    else { return nil }
    self.kind = String(decoding: kind, as: UTF8.self)
    self.body = body
    self.envelope = envelope
    self.history = String(decoding: history, as: UTF8.self)
    line = if values.count > 5, case .text(let line) = values[5] { String(decoding: line, as: UTF8.self) } else { nil }
  }

  private struct Reader {
    let bytes: [UInt8]
    var offset = 0

    mutating func beginList() -> Int? {
      guard let kind = byte() else { return nil }
      switch kind {
      case 0x90...0x9F: return Int(kind & 15)
      case 0xDC: return length(2)
      case 0xDD: return length(4)
      default: return nil
      }
    }

    mutating func next() -> Value? {
      guard let kind = byte() else { return nil }
      switch kind {
      case 0x00...0x7F, 0xE0...0xFF: return .number
      case 0xA0...0xBF: return text(Int(kind & 31))
      case 0xC0, 0xC2, 0xC3: return .other
      case 0xC4, 0xD9: return length(1).flatMap { text($0) }
      case 0xC5, 0xDA: return length(2).flatMap { text($0) }
      case 0xC6, 0xDB: return length(4).flatMap { text($0) }
      case 0xCC, 0xD0: return skip(1)
      case 0xCD, 0xD1: return skip(2)
      case 0xCA, 0xCE, 0xD2: return skip(4)
      case 0xCB, 0xCF, 0xD3: return skip(8)
      default: return nil
      }
    }

    private mutating func byte() -> UInt8? {
      guard offset < bytes.count else { return nil }
      defer { offset += 1 }
      return bytes[offset]
    }

    private mutating func length(_ width: Int) -> Int? {
      guard offset + width <= bytes.count else { return nil }
      defer { offset += width }
      return bytes[offset..<offset + width].reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func text(_ count: Int) -> Value? {
      guard count <= bytes.count - offset else { return nil }
      defer { offset += count }
      return .text(Array(bytes[offset..<offset + count]))
    }

    private mutating func skip(_ width: Int) -> Value? { length(width).map { _ in .number } }
  }
}
