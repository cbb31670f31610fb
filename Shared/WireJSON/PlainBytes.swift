/// Eight bytes of a JSON text at a time: which of them may not stand in a string as they are (RFC 8259 section 7).
enum PlainBytes {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Not zero when one of the eight is a quote, a backslash or a control character. The lowest bit that is set is the highest of the first
  /// such byte.
  @inline(__always)
  static func special(_ bytes: UInt64) -> UInt64 {
    let quote = bytes ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let backslash = bytes ^ (ones &* UInt64(UInt8(ascii: "\\")))
    // Where a byte is less than n, taking n from it borrows. A borrow may reach the byte above and call it special too, which is no harm:
    // the one below is.
    let below = (bytes &- ones &* 0x20) & ~bytes
    return (below | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highs
  }

  /// A place that no special byte and none beyond ASCII stands before: the first of either, or one of the text's last eight.
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
