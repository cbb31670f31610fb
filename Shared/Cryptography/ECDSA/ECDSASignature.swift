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
  /// Big endian, padded to the curve's width.
  public let r: [UInt8]
  public let s: [UInt8]

  /// Reads exactly one DER `Ecdsa-Sig-Value`: minimal lengths and integers, no trailing bytes.
  public init(der: [UInt8], curve: Curve) throws(SignatureError) {
    var at = 0
    func byte() throws(SignatureError) -> UInt8 {
      guard at < der.count else { throw .notDER }
      at += 1
      return der[at - 1]
    }
    func integer() throws(SignatureError) -> [UInt8] {
      guard try byte() == 0x02 else { throw .notDER }
      let length = Int(try byte())
      guard length > 0, length < 0x80, at + length <= der.count else { throw .notDER }
      var value = der[at..<at + length]
      at += length
      guard value.first! & 0x80 == 0 else { throw .notDER }
      if value.first == 0, length > 1 {
        value = value.dropFirst()
        guard value.first! & 0x80 != 0 else { throw .notDER }
      }
      guard value.count <= curve.width else { throw .outOfRange }
      return [UInt8](repeating: 0, count: curve.width - value.count) + value
    }
    guard try byte() == 0x30 else { throw .notDER }
    let length = Int(try byte())
    guard length < 0x80, length == der.count - 2 else { throw .notDER }
    let r = try integer()
    let s = try integer()
    guard at == der.count else { throw .notDER }
    try self.init(r: r, s: s, curve: curve)
  }

  /// Reads r‖s, each as wide as the curve (JOSE).
  public init(raw: [UInt8], curve: Curve) throws(SignatureError) {
    guard raw.count == 2 * curve.width else { throw .wrongLength(raw.count) }
    try self.init(r: Array(raw.prefix(curve.width)), s: Array(raw.suffix(curve.width)), curve: curve)
  }

  private init(r: [UInt8], s: [UInt8], curve: Curve) throws(SignatureError) {
    for number in [r, s] {
      guard number.contains(where: { $0 != 0 }), number.lexicographicallyPrecedes(curve.order) else {
        throw .outOfRange
      }
    }
    self.curve = curve
    self.r = r
    self.s = s
  }

  /// From OpenSSL's r‖s for P-256, which are in range.
  init(made raw: ArraySlice<UInt8>) {
    curve = .p256
    r = Array(raw.prefix(32))
    s = Array(raw.suffix(32))
  }

  /// r‖s.
  public var raw: [UInt8] { r + s }

  /// DER, minimal.
  public var der: [UInt8] {
    var bytes: [UInt8] = [0x30, 0]
    bytes.reserveCapacity(8 + r.count + s.count)
    for number in [r, s] {
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
