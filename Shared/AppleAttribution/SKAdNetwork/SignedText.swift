import WireJSON

/// Builds the text that is signed in SKAdNetwork: values joined with U+2063 INVISIBLE SEPARATOR. ``SKAdNetworkImpression/signedString`` and
/// ``SKAdNetworkPostback/signedString`` have the order of the values.
struct SignedText {
  static let separatorScalar: Unicode.Scalar = "\u{2063}"
  private static let separator: [UInt8] = [0xE2, 0x81, 0xA3]

  private(set) var bytes: [UInt8] = []

  // Nearly all signed texts fit into this capacity.
  init() { bytes.reserveCapacity(192) }

  mutating func append(_ text: String) {
    separate()
    let text = text.utf8.span
    text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
  }

  /// Appends a number as decimal digits.
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
