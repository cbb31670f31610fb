/// The vectors after the addresses of a version 2 header: fields of a type (one byte), a length (two bytes) and a value.
extension ProxyHeader {
  /// The type of the vector with the header's checksum (`PP2_TYPE_CRC32C`).
  private static let checksumType: UInt8 = 3

  /// True if the bytes from `start` to the end of the header are whole vectors, and the checksum, if there is one, is right. The values of
  /// other vectors are ignored.
  static func hasValidVectors(_ header: ArraySlice<UInt8>, after start: Int) -> Bool {
    var offset = start
    var checksum: Int?
    while offset < header.endIndex {
      guard offset + 3 <= header.endIndex else { return false }
      let next = offset + 3 + (Int(header[offset + 1]) << 8 | Int(header[offset + 2]))
      guard next <= header.endIndex else { return false }
      if header[offset] == checksumType {
        guard next == offset + 7, checksum == nil else { return false }
        checksum = offset + 3
      }
      offset = next
    }
    guard let checksum else { return true }
    // The checksum is computed over the header with zeros in place of the checksum.
    var zeroed = Array(header)
    for index in checksum..<checksum + 4 { zeroed[index - header.startIndex] = 0 }
    return header[checksum..<checksum + 4].reduce(0) { $0 << 8 | UInt32($1) } == crc32c(zeroed)
  }

  /// CRC32C, the checksum of SCTP (RFC 9260, appendix A). It is computed without a table because headers are short and come once per
  /// connection.
  static func crc32c(_ bytes: [UInt8]) -> UInt32 {
    var remainder = UInt32.max
    for byte in bytes {
      remainder ^= UInt32(byte)
      for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0x82F6_3B78 : remainder >> 1 }
    }
    return ~remainder
  }
}
