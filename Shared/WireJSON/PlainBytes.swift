/// Checks eight bytes of a JSON text at a time for bytes that must not be in a string unescaped (RFC 8259 section 7).
enum PlainBytes {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Not zero if one of the eight is a quote, a backslash or a control character. The lowest set bit is the highest bit of the first such
  /// byte.
  @inline(__always)
  static func special(_ bytes: UInt64) -> UInt64 {
    let quote = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let backslash = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
    // Subtracting n from a byte that is less than n borrows. A borrow may also mark the next byte, which does no harm, because the lower
    // byte is marked too.
    let below = (bytes &- ones &* 0x20) & ~bytes
    return (below | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highs
  }

  /// Skips bytes that are ASCII and not special. Stops at the first other byte, or when fewer than eight bytes are left.
  @inline(__always)
  static func skip(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    guard let base = text.baseAddress else { return start }
    var at = start
    while at + 8 <= text.count {
      let bytes = UInt64(littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: at, as: UInt64.self))
      let found = special(bytes) | bytes & highs
      guard found == 0 else { return at + found.trailingZeroBitCount / 8 }
      at += 8
    }
    return at
  }
}
