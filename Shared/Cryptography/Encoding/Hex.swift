/// Hexadecimal text.
public enum Hex {
  /// Two lower-case digits for each byte.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes[...]) }

  /// Two lower-case digits for each byte.
  public static func encode(_ bytes: ArraySlice<UInt8>) -> String {
    bytes.withUnsafeBytes { bytes in
      String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
        for index in 0..<bytes.count {
          buffer[2 * index] = digit(bytes[index] >> 4)
          buffer[2 * index + 1] = digit(bytes[index] & 15)
        }
        return 2 * bytes.count
      }
    }
  }

  /// Sixteen lower-case digits, the highest first.
  public static func encode(_ number: UInt64) -> String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      for index in 0..<16 { buffer[index] = digit(UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * index)) & 15) }
      return 16
    }
  }

  /// Decodes digits in either case; nil for an odd number of characters or another character.
  public static func decode(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 2)
    for index in stride(from: 0, to: characters.count, by: 2) {
      guard let high = value(characters[index]), let low = value(characters[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

  private static func value(_ character: UInt8) -> UInt8? {
    switch character {
    case 48...57: character - 48
    case 65...70: character - 55
    case 97...102: character - 87
    default: nil
    }
  }
}
