import COpenSSL

/// The elliptic curves of Apple's signatures.
public enum Curve: Sendable, Hashable {
  /// `prime192v1`: SKAdNetwork postbacks of versions up to 2.0.
  case p192
  /// `prime256v1`: later postbacks, the App Store's data, and everything that we sign.
  case p256
  /// `secp384r1`: Apple's certificate authorities.
  case p384

  /// The number of bytes of a coordinate, and of r and of s in a raw signature.
  public var width: Int {
    switch self {
    case .p192: 24
    case .p256: 32
    case .p384: 48
    }
  }

  /// From one of OpenSSL's names of the curve; nil for another curve.
  init?(groupName: String) {
    switch groupName {
    case "prime192v1", "P-192", "secp192r1": self = .p192
    case "prime256v1", "P-256", "secp256r1": self = .p256
    case "secp384r1", "P-384": self = .p384
    default: return nil
    }
  }

  /// The order of the curve's generator, big endian.
  var order: [UInt8] {
    switch self {
    case .p192: Curve.orderP192
    case .p256: Curve.orderP256
    case .p384: Curve.orderP384
    }
  }

  private static let orderP192 = Hex.decode("ffffffffffffffffffffffff99def836146bc9b1b4d22831")!
  private static let orderP256 = Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")!
  private static let orderP384 = Hex.decode(
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973")!
}
