/// Searches a JSON text, eight bytes at a time, for bytes that must be escaped in a string (RFC 8259, section 7): quotes, backslashes and
/// control characters.
enum PlainBytes {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Not zero if one of the eight bytes must be escaped. The lowest set bit is then the highest bit of the first such byte in little-endian
  /// order.
  @inline(__always)
  static func special(_ bytes: UInt64) -> UInt64 {
    let quote = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let backslash = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
    // Subtracting n from a byte that is less than n borrows from the next byte, and sets the byte's highest bit. The borrow may mark the
    // next byte wrongly. This does no harm, because the lower byte is marked too.
    let below = (bytes &- ones &* 0x20) & ~bytes
    return (below | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highs
  }

  /// Skips ASCII bytes that need no escaping. Returns the position of the first other byte, or a position from which fewer than eight bytes
  /// are left.
  @inline(__always)
  static func skip(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    guard let base = text.baseAddress else { return start }
    var position = start
    while position + 8 <= text.count {
      let bytes = UInt64(littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: position, as: UInt64.self))
      let found = special(bytes) | bytes & highs
      guard found == 0 else { return position + found.trailingZeroBitCount / 8 }
      position += 8
    }
    return position
  }
}
