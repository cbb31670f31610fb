import WireJSON

/// Values joined with U+2063 INVISIBLE SEPARATOR, as SKAdNetwork signs them. ``SKAdNetworkImpression/text(of:)`` has the form of an
/// impression's signature.
struct SignedText {
  static let separatorScalar: Unicode.Scalar = "\u{2063}"
  private static let separator: [UInt8] = [0xE2, 0x81, 0xA3]

  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(192) }

  mutating func append(_ text: String) {
    separate()
    let text = text.utf8.span
    text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
  }

  /// Appends decimal digits.
  mutating func append(_ value: some FixedWidthInteger) {
    separate()
    if let value = Int64(exactly: value) { bytes.appendDecimal(value) } else { bytes += String(value).utf8 }
  }

  private mutating func separate() {
    if !bytes.isEmpty { bytes += Self.separator }
  }

  /// Appends `true` or `false`.
  mutating func append(_ value: Bool) { append(value ? "true" : "false") }
}
