/// Why bytes are not an ECDSA signature, or why no signature was made.
public enum SignatureError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not exactly one minimal DER SEQUENCE of two INTEGERs.
  case notDER
  /// The raw signature is not exactly twice as wide as the curve; with its number of bytes.
  case wrongLength(Int)
  /// r or s is zero, or not less than the curve's order.
  case outOfRange
  /// OpenSSL could not make a signature; with its error.
  case notMade(String)
  /// The signature could not be written to the audit log, so it is not returned; with the reason.
  case notRecorded(String)

  public var description: String {
    switch self {
    case .notDER: "the signature is not exactly one DER SEQUENCE of two INTEGERs"
    case .wrongLength(let count): "the signature has \(count) bytes, not twice the curve's width"
    case .outOfRange: "r or s of the signature is zero or not less than the curve's order"
    case .notMade(let reason), .notRecorded(let reason): reason
    }
  }
}

/// An ECDSA signature: the numbers r and s, both greater than zero and less than the curve's order n. An s greater than n/2 is accepted,
/// because Apple's signatures may have one.
public struct ECDSASignature: Sendable, Hashable {
  public let curve: Curve
  /// r‖s, big endian, each padded to the curve's width (JOSE).
  public let raw: [UInt8]

  public var r: [UInt8] { Array(raw[..<curve.width]) }
  public var s: [UInt8] { Array(raw[curve.width...]) }

  /// Parses exactly one DER `Ecdsa-Sig-Value`: minimal lengths and integers, no trailing bytes.
  public init(der: [UInt8], curve: Curve) throws(SignatureError) {
    guard der.count >= 2, der[0] == 0x30, der[1] < 0x80, Int(der[1]) == der.count - 2 else { throw .notDER }
    var raw = [UInt8](repeating: 0, count: 2 * curve.width)
    var position = 2
    for end in [curve.width, 2 * curve.width] {
      let value = try Self.integer(in: der, &position)
      guard value.count <= curve.width else { throw .outOfRange }
      raw.replaceSubrange(end - value.count..<end, with: der[value])
    }
    guard position == der.count else { throw .notDER }
    try self.init(checkingRangeOf: raw, curve: curve)
  }

  /// The range of the bytes of the INTEGER at `position`, without the zero byte before a number whose highest bit is set. Moves `position`
  /// past the INTEGER.
  private static func integer(in der: [UInt8], _ position: inout Int) throws(SignatureError) -> Range<Int> {
    guard position + 2 < der.count, der[position] == 0x02 else { throw .notDER }
    let begin = position + 2
    let length = Int(der[position + 1])
    guard length > 0, length < 0x80, begin + length <= der.count, der[begin] & 0x80 == 0 else { throw .notDER }
    position = begin + length
    guard der[begin] == 0, length > 1 else { return begin..<position }
    guard der[begin + 1] & 0x80 != 0 else { throw .notDER }
    return begin + 1..<position
  }

  /// Parses r‖s, each as wide as the curve (JOSE).
  public init(raw: [UInt8], curve: Curve) throws(SignatureError) {
    guard raw.count == 2 * curve.width else { throw .wrongLength(raw.count) }
    try self.init(checkingRangeOf: raw, curve: curve)
  }

  private init(checkingRangeOf raw: [UInt8], curve: Curve) throws(SignatureError) {
    for number in [raw[..<curve.width], raw[curve.width...]] {
      guard number.contains(where: { $0 != 0 }), number.lexicographicallyPrecedes(curve.order) else { throw .outOfRange }
    }
    self.curve = curve
    self.raw = raw
  }

  /// Takes a P-256 signature r‖s that OpenSSL made. Its numbers are in range, so they are not checked.
  init(rawP256InRange raw: ArraySlice<UInt8>) {
    curve = .p256
    self.raw = Array(raw)
  }

  /// The signature as a minimal DER `Ecdsa-Sig-Value`.
  public var der: [UInt8] {
    var bytes: [UInt8] = [0x30, 0]
    bytes.reserveCapacity(8 + raw.count)
    for number in [raw[..<curve.width], raw[curve.width...]] {
      // Neither number is zero, so a byte is left.
      let value = number.drop { $0 == 0 }
      let isPadded = value.first! & 0x80 != 0
      bytes.append(0x02)
      bytes.append(UInt8(value.count + (isPadded ? 1 : 0)))
      if isPadded { bytes.append(0) }
      bytes.append(contentsOf: value)
    }
    bytes[1] = UInt8(bytes.count - 2)
    return bytes
  }
}
