import COpenSSL

/// A public key with precomputed tables for its point, for the few keys that verify most signatures.
///
/// Verification adds two multiples of points. OpenSSL has tables for one of them, the curve's generator, and computes the other each time
/// (for P-384 it has no tables). With tables for both, verification is several times faster. The results are those of
/// ``PublicKey/verifies(_:of:)``, as a differential test checks. The tables take a few hundredths of a second to compute and about 150 kB
/// for P-256, 4 MB for P-384. P-192 has none and is verified by OpenSSL.
public final class PreparedPublicKey: @unchecked Sendable {  // the tables are not changed after they are made
  public let key: PublicKey
  private let tables: OpaquePointer?

  public init(_ key: PublicKey) {
    self.key = key
    let bits: Int? =
      switch key.curve {
      case .p192: nil
      case .p256: COPENSSL_FIXED_P256
      case .p384: COPENSSL_FIXED_P384
      }
    tables = bits.flatMap { bits in key.encodedPoint.flatMap { copenssl_fixed_point_new(Int32(bits), $0, $0.count) } }
  }

  deinit { copenssl_fixed_point_free(tables) }

  /// True if there are tables for this key.
  public var isPrepared: Bool { tables != nil }

  /// True if the key's private key signed the message: ECDSA over SHA-256.
  public func verifies(_ signature: ECDSASignature, of message: [UInt8]) -> Bool {
    guard tables != nil else { return key.verifies(signature, of: message) }
    return verifies(signature, digest: SHA256Digest.hash(message))
  }

  /// True if the key's private key signed the digest.
  func verifies(_ signature: ECDSASignature, digest: [UInt8]) -> Bool {
    guard let tables else { return key.verifies(signature, digest: digest) }
    guard signature.curve == key.curve else { return false }
    switch copenssl_fixed_point_verify(tables, digest, digest.count, signature.r, signature.s) {
    case 1: return true
    case 0: return false
    // A failure of OpenSSL says nothing about the signature, so the usual verification decides.
    default: return key.verifies(signature, digest: digest)
    }
  }
}

extension PublicKey {
  /// True if the P-384 key's private key signed the digest, using the tables of the curve's generator, which all keys share.
  func verifiesP384(_ signature: ECDSASignature, digest: [UInt8]) -> Bool {
    guard curve == .p384, signature.curve == .p384, let point = encodedPoint else { return verifies(signature, digest: digest) }
    switch copenssl_p384_verify(point, point.count, digest, digest.count, signature.r, signature.s) {
    case 1: return true
    case 0: return false
    default: return verifies(signature, digest: digest)
    }
  }
}
