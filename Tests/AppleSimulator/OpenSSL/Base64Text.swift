/// Base64 as Apple writes it: the standard alphabet with padding for certificates and signatures, the URL-safe one without padding for
/// a JWS.
public enum Base64Text {
  private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes, alphabet: standard, padded: true) }

  public static func encodeURL(_ bytes: [UInt8]) -> String { encode(bytes, alphabet: url, padded: false) }

  /// Decodes standard Base64. Nil if the text is incomplete, not padded or has other characters.
  public static func decode(_ text: String) -> [UInt8]? {
    let utf8 = Array(text.utf8)
    guard utf8.count % 4 == 0 else { return nil }
    let padding = utf8.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
    return decode(utf8.dropLast(padding), alphabet: standard)
  }

  /// Decodes URL-safe Base64. Nil if the text is incomplete, is padded or has other characters.
  public static func decodeURL(_ text: String) -> [UInt8]? {
    let utf8 = Array(text.utf8)
    return decode(utf8[...], alphabet: url)
  }

  private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let chunk = bytes[index..<min(index + 3, bytes.count)]
      var word = UInt32(0)
      for position in 0..<3 { word = word << 8 | UInt32(index + position < bytes.count ? bytes[index + position] : 0) }
      for position in 0..<4 {
        if position <= chunk.count {
          text.append(alphabet[Int(word >> UInt32(18 - 6 * position) & 63)])
        } else if padded {
          text.append(UInt8(ascii: "="))
        }
      }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func decode(_ utf8: ArraySlice<UInt8>, alphabet: [UInt8]) -> [UInt8]? {
    guard utf8.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var word = UInt32(0)
    var bits = 0
    for byte in utf8 {
      guard let value = value(of: byte, alphabet: alphabet) else { return nil }
      word = word << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
        word &= (1 << UInt32(bits)) - 1
      }
    }
    // The unused bits of the last character must be 0.
    return word == 0 ? bytes : nil
  }

  private static func value(of byte: UInt8, alphabet: [UInt8]) -> UInt32? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
    case alphabet[62]: 62
    case alphabet[63]: 63
    default: nil
    }
  }
}
