/// The size and transparency of a PNG file, read from its chunks (Portable Network Graphics, third edition). All chunks are checked for
/// completeness and for their checksums, but pixels are not decoded.
struct PNGHeader {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The table of the chunks' CRC-32.
  private static let crcTable: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }

  let width: UInt32
  let height: UInt32
  let hasTransparency: Bool

  init(_ bytes: [UInt8]) throws(RequestRefusal) {
    guard bytes.starts(with: Self.signature) else { throw RequestRefusal(field: "image", "must be a PNG file") }
    var header: (width: UInt32, height: UInt32, colourType: UInt8)?
    var hasData = false
    var hasTransparentColours = false
    var isEnded = false
    var offset = Self.signature.count
    while offset < bytes.count, !isEnded {
      // A chunk has four bytes of length, four of type, its content, and four of checksum.
      guard bytes.count - offset >= 12 else { throw Self.broken }
      let length = Int(Self.number(bytes, offset))
      guard length <= bytes.count - offset - 12 else { throw Self.broken }
      let kind = String(decoding: bytes[(offset + 4)..<(offset + 8)], as: UTF8.self)
      let content = offset + 8
      guard Self.crc32(bytes[(offset + 4)..<(content + length)]) == Self.number(bytes, content + length) else { throw Self.broken }
      switch kind {
      case "IHDR":
        guard header == nil, offset == Self.signature.count, length == 13 else { throw Self.broken }
        header = (Self.number(bytes, content), Self.number(bytes, content + 4), bytes[content + 9])
      case "IDAT": hasData = hasData || length > 0
      case "tRNS": hasTransparentColours = true
      case "IEND": isEnded = true
      default: break
      }
      offset = content + length + 4
    }
    guard let header, hasData, isEnded, offset == bytes.count else { throw Self.broken }
    width = header.width
    height = header.height
    // Colour types 4 and 6 have an alpha channel.
    hasTransparency = hasTransparentColours || header.colourType & 4 != 0
  }

  private static var broken: RequestRefusal { RequestRefusal(field: "image", "must be a complete PNG file: a chunk is missing or damaged") }

  /// The four bytes at an offset as a big-endian number.
  private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(UInt32.max) { crcTable[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
  }
}
