/// Values joined with U+2063 INVISIBLE SEPARATOR, as SKAdNetwork signs them.
struct SignedText {
  static let separatorScalar: Unicode.Scalar = "\u{2063}"
  private static let separator: [UInt8] = [0xE2, 0x81, 0xA3]

  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(192) }

  mutating func append(_ text: String) {
    if !bytes.isEmpty { bytes += Self.separator }
    bytes += text.utf8
  }

  /// Plain decimals.
  mutating func append(_ value: some BinaryInteger) { append(String(value)) }

  /// The words.
  mutating func append(_ value: Bool) { append(value ? "true" : "false") }
}
