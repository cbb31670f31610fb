/// One of the 16,384 slots over which a Redis Cluster distributes its keys
/// ([cluster specification](https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model)).
struct HashSlot: Sendable, Hashable {
  static let count = 16_384

  let number: Int

  /// Nil for a number out of range.
  init?(number: Int) {
    guard (0..<Self.count).contains(number) else { return nil }
    self.number = number
  }

  /// The slot of a key. If the key has a hash tag (`{…}`) that is not empty, only the tag counts.
  init(key: some Sequence<UInt8>) {
    let bytes = Array(key)
    var tag = bytes[...]
    if let open = bytes.firstIndex(of: UInt8(ascii: "{")),
      let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
    {
      tag = bytes[(open + 1)..<close]
    }
    number = Int(Self.checksum(tag)) % Self.count
  }

  /// CRC-16/XMODEM: polynomial 0x1021, initial value 0.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(UInt16(0)) { sum, byte in sum << 8 ^ table[Int(UInt8(truncatingIfNeeded: sum >> 8) ^ byte)] }
  }

  private static let table: [UInt16] = (0..<256).map { index in
    (0..<8).reduce(UInt16(index) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
  }
}
