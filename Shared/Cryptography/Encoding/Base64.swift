/// Base64 (RFC 4648), strict: no white space, no stray bits, padding exactly where it belongs.
public enum Base64 {
  private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let standardValues = values(of: standard)
  private static let urlValues = values(of: url)

  /// The standard alphabet, padded.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes, alphabet: standard, padded: true) }

  /// The URL alphabet, without padding (JOSE).
  public static func encodeURL(_ bytes: [UInt8]) -> String { encode(bytes, alphabet: url, padded: false) }

  /// The standard alphabet with its padding; nil for anything else.
  public static func decode(_ text: String) -> [UInt8]? {
    var characters = Array(text.utf8)
    guard characters.count % 4 == 0 else { return nil }
    for _ in 0..<2 where characters.last == UInt8(ascii: "=") { characters.removeLast() }
    return decode(characters, values: standardValues)
  }

  /// The URL alphabet without padding; nil for anything else.
  public static func decodeURL(_ text: some StringProtocol) -> [UInt8]? { decode(Array(text.utf8), values: urlValues) }

  private static func values(of alphabet: [UInt8]) -> [UInt8] {
    var table = [UInt8](repeating: 0xFF, count: 256)
    for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    return table
  }

  private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
    String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
      var end = 0
      func put(_ chunk: UInt32, _ characters: Int) {
        for place in 0..<characters {
          text[end] = alphabet[Int(chunk >> UInt32(18 - 6 * place) & 63)]
          end += 1
        }
      }
      var index = 0
      while index + 2 < bytes.count {
        put(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]), 4)
        index += 3
      }
      let rest = bytes.count - index
      if rest > 0 {
        put(UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0), rest + 1)
        for _ in 0..<(padded ? 3 - rest : 0) {
          text[end] = UInt8(ascii: "=")
          end += 1
        }
      }
      return end
    }
  }

  private static func decode(_ characters: [UInt8], values: [UInt8]) -> [UInt8]? {
    guard characters.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count * 3 / 4)
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for character in characters {
      let value = values[Int(character)]
      guard value != 0xFF else { return nil }
      buffer = buffer << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
      }
    }
    // Bits that stand for no byte must be zero: otherwise two texts would mean the same bytes.
    guard buffer & ((1 << bits) - 1) == 0 else { return nil }
    return bytes
  }
}
