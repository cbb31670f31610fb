extension ProxyHeader {
  /// The type of a vector that holds the header's checksum.
  private static let checksumType: UInt8 = 3

  /// True if the bytes after the addresses are vectors (a type, a length of two bytes, a value) and a checksum among them is right. Other
  /// vectors are ignored.
  static func hasProperVectors(_ header: ArraySlice<UInt8>, after start: Int) -> Bool {
    var at = start
    var checksum: Int?
    while at < header.endIndex {
      guard at + 3 <= header.endIndex else { return false }
      let next = at + 3 + (Int(header[at + 1]) << 8 | Int(header[at + 2]))
      guard next <= header.endIndex else { return false }
      if header[at] == checksumType {
        guard next == at + 7, checksum == nil else { return false }
        checksum = at + 3
      }
      at = next
    }
    guard let checksum else { return true }
    var bare = Array(header)
    for index in checksum..<checksum + 4 { bare[index - header.startIndex] = 0 }
    return header[checksum..<checksum + 4].reduce(0) { $0 << 8 | UInt32($1) } == crc32c(bare)
  }

  /// The checksum of SCTP (RFC 9260, appendix A). A table is not needed because headers are short and come once per connection.
  static func crc32c(_ bytes: [UInt8]) -> UInt32 {
    var rest = UInt32.max
    for byte in bytes {
      rest ^= UInt32(byte)
      for _ in 0..<8 { rest = rest & 1 == 1 ? rest >> 1 ^ 0x82F6_3B78 : rest >> 1 }
    }
    return ~rest
  }
}
