/// Base64 (RFC 4648), strict: without white space, with zeros as unused bits, and padded exactly where it must be.
public enum Base64 {
  private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let standardValues = values(of: standard)
  private static let urlValues = values(of: url)

  /// Encodes with the standard alphabet and padding.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes, alphabet: standard, padded: true) }

  /// Encodes with the URL alphabet, without padding (JOSE).
  public static func encodeURL(_ bytes: [UInt8]) -> String { encode(bytes, alphabet: url, padded: false) }

  /// Decodes the standard alphabet with padding; nil for anything else.
  public static func decode(_ text: String) -> [UInt8]? {
    var text = text
    return text.withUTF8 { characters in
      guard characters.count % 4 == 0 else { return nil }
      var count = characters.count
      for _ in 0..<2 where count > 0 && characters[count - 1] == UInt8(ascii: "=") { count -= 1 }
      return decode(UnsafeBufferPointer(rebasing: characters[..<count]), values: standardValues)
    }
  }

  /// Decodes the URL alphabet without padding; nil for anything else.
  public static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
    var text = String(text)
    return text.withUTF8 { decodeURL($0) }
  }

  static func decodeURL(_ characters: UnsafeBufferPointer<UInt8>) -> [UInt8]? { decode(characters, values: urlValues) }

  /// The value of each character code; 0xFF for characters that are not in the alphabet.
  private static func values(of alphabet: [UInt8]) -> [UInt8] {
    var table = [UInt8](repeating: 0xFF, count: 256)
    for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
    return table
  }

  private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
    String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
      var end = 0
      /// Appends the first `count` of the four characters that encode 24 bits.
      func append(_ bits: UInt32, count: Int) {
        for index in 0..<count {
          text[end] = alphabet[Int(bits >> UInt32(18 - 6 * index) & 63)]
          end += 1
        }
      }
      var index = 0
      while index + 2 < bytes.count {
        append(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]), count: 4)
        index += 3
      }
      let rest = bytes.count - index
      if rest > 0 {
        append(UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0), count: rest + 1)
        for _ in 0..<(padded ? 3 - rest : 0) {
          text[end] = UInt8(ascii: "=")
          end += 1
        }
      }
      return end
    }
  }

  private static func decode(_ characters: UnsafeBufferPointer<UInt8>, values: [UInt8]) -> [UInt8]? {
    let count = characters.count
    guard count % 4 != 1 else { return nil }
    var isValid = true
    let bytes = values.withUnsafeBufferPointer { values in
      [UInt8](unsafeUninitializedCapacity: count / 4 * 3 + 2) { bytes, end in
        /// The value of a character: 0 to 63, or 0xFF if the character is invalid.
        func value(_ index: Int) -> UInt32 { UInt32(values[Int(characters[index])]) }
        var index = 0
        var wrong: UInt32 = 0
        while index + 4 <= count {
          let (a, b, c, d) = (value(index), value(index + 1), value(index + 2), value(index + 3))
          wrong |= a | b | c | d
          let chunk = a << 18 | b << 12 | c << 6 | d
          bytes[end] = UInt8(truncatingIfNeeded: chunk >> 16)
          bytes[end + 1] = UInt8(truncatingIfNeeded: chunk >> 8)
          bytes[end + 2] = UInt8(truncatingIfNeeded: chunk)
          end += 3
          index += 4
        }
        // Unused bits must be zero; otherwise two texts could encode the same bytes.
        if count - index >= 2 {
          let (a, b) = (value(index), value(index + 1))
          wrong |= a | b
          bytes[end] = UInt8(truncatingIfNeeded: a << 2 | b >> 4)
          end += 1
          if count - index == 3 {
            let c = value(index + 2)
            wrong |= c
            bytes[end] = UInt8(truncatingIfNeeded: b << 4 | c >> 2)
            end += 1
            isValid = c & 3 == 0
          } else {
            isValid = b & 15 == 0
          }
        }
        if wrong > 63 { isValid = false }
      }
    }
    return isValid ? bytes : nil
  }
}
