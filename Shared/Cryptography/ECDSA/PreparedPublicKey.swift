import COpenSSL

/// A public key with tables made once for its point: for the few keys that everything is checked against.
///
/// Verification adds two multiples of points. OpenSSL has tables for one of them, the curve's generator, and works out the other anew each
/// time; with tables for both it takes less than half as long. The answers are those of ``PublicKey/verifies(_:of:)``, which a large
/// differential test holds it to. The tables take some 150 kB and a few hundredths of a second to make. Keys of other curves than P-256
/// have none and are checked the usual way.
public final class PreparedPublicKey: @unchecked Sendable {  // the tables are not changed after they are made
  public let key: PublicKey
  private let tables: OpaquePointer?

  public init(_ key: PublicKey) {
    self.key = key
    tables = key.curve == .p256 ? key.encodedPoint.flatMap { copenssl_fixed_point_new($0, $0.count) } : nil
  }

  deinit { copenssl_fixed_point_free(tables) }

  /// Whether there are tables for this key.
  public var isPrepared: Bool { tables != nil }

  /// Whether the key's private half signed the message: ECDSA over SHA-256.
  public func verifies(_ signature: ECDSASignature, of message: [UInt8]) -> Bool {
    guard tables != nil else { return key.verifies(signature, of: message) }
    return verifies(signature, digest: SHA256Digest.hash(message))
  }

  /// The same for a digest of 32 bytes.
  func verifies(_ signature: ECDSASignature, digest: [UInt8]) -> Bool {
    guard let tables else { return key.verifies(signature, digest: digest) }
    guard signature.curve == .p256, digest.count == 32 else { return false }
    switch copenssl_fixed_point_verify(tables, digest, signature.r, signature.s) {
    case 1: return true
    case 0: return false
    // OpenSSL failed, which says nothing of the signature: the other way decides.
    default: return key.verifies(signature, digest: digest)
    }
  }
}
