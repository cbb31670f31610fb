/// Why bytes are not one ECDSA signature.
public enum SignatureError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not exactly one minimal DER SEQUENCE of two INTEGERs.
  case notDER
  /// Not exactly twice the curve's width.
  case wrongLength(Int)
  /// r or s is zero, or not below the order of the curve.
  case outOfRange
  /// OpenSSL could not make a signature.
  case notMade(String)
  /// The signature could not be recorded, so it is not returned.
  case notRecorded(String)

  public var description: String {
    switch self {
    case .notDER: "not one DER signature"
    case .wrongLength(let count): "\(count) bytes"
    case .outOfRange: "r or s out of range"
    case .notMade(let reason), .notRecorded(let reason): reason
    }
  }
}

/// An ECDSA signature: two numbers, 0 < r, s < n. A high s is accepted, because Apple's signatures may have one.
public struct ECDSASignature: Sendable, Hashable {
  public let curve: Curve
  /// r‖s, big endian, each padded to the curve's width (JOSE).
  public let raw: [UInt8]

  public var r: [UInt8] { Array(raw[..<curve.width]) }
  public var s: [UInt8] { Array(raw[curve.width...]) }

  /// Reads exactly one DER `Ecdsa-Sig-Value`: minimal lengths and integers, no trailing bytes.
  public init(der: [UInt8], curve: Curve) throws(SignatureError) {
    guard der.count >= 2, der[0] == 0x30, der[1] < 0x80, Int(der[1]) == der.count - 2 else { throw .notDER }
    var raw = [UInt8](repeating: 0, count: 2 * curve.width)
    var at = 2
    for end in [curve.width, 2 * curve.width] {
      let value = try Self.integer(in: der, &at)
      guard value.count <= curve.width else { throw .outOfRange }
      raw.replaceSubrange(end - value.count..<end, with: der[value])
    }
    guard at == der.count else { throw .notDER }
    try self.init(checkingRangeOf: raw, curve: curve)
  }

  /// The place of an INTEGER's digits, without the zero that marks a number as positive. `at` moves past it.
  private static func integer(in der: [UInt8], _ at: inout Int) throws(SignatureError) -> Range<Int> {
    guard at + 2 < der.count, der[at] == 0x02 else { throw .notDER }
    let begin = at + 2
    let length = Int(der[at + 1])
    guard length > 0, length < 0x80, begin + length <= der.count, der[begin] & 0x80 == 0 else { throw .notDER }
    at = begin + length
    guard der[begin] == 0, length > 1 else { return begin..<at }
    guard der[begin + 1] & 0x80 != 0 else { throw .notDER }
    return begin + 1..<at
  }

  /// Reads r‖s, each as wide as the curve (JOSE).
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

  /// From OpenSSL's r‖s for P-256, which are in range.
  init(made raw: ArraySlice<UInt8>) {
    curve = .p256
    self.raw = Array(raw)
  }

  /// DER, minimal.
  public var der: [UInt8] {
    var bytes: [UInt8] = [0x30, 0]
    bytes.reserveCapacity(8 + raw.count)
    for number in [raw[..<curve.width], raw[curve.width...]] {
      // Neither number is zero.
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
