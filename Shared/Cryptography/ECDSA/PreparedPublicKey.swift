import COpenSSL

/// A public key with precomputed tables for its point, for the few keys that verify most signatures.
///
/// Verification adds a multiple of the curve's generator and a multiple of the key's point. OpenSSL has tables only for the generator of
/// P-256. With tables for both points, verification is several times faster. The results are those of ``PublicKey/verifies(_:of:)``, as a
/// differential test checks. Computing the tables takes as long as many verifications, and they need about 150 kB for P-256 and 4 MB for
/// P-384. A P-192 key gets no tables, so OpenSSL verifies its signatures.
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
    var result: Int8 = -1
    copenssl_fixed_point_verify(tables, 1, digest, digest.count, signature.raw, &result)
    return isVerified(result, signature, digest: digest)
  }

  /// For each signature, true if the key's private key signed its message: ECDSA over SHA-256. The results are those of
  /// ``verifies(_:of:)``. Several signatures take less time together, because they share a modular inverse and find the tables in the
  /// processor's caches.
  public func verifies(_ signatures: [(signature: ECDSASignature, message: [UInt8])]) -> [Bool] {
    guard let tables, signatures.allSatisfy({ $0.signature.curve == key.curve }) else {
      return signatures.map { verifies($0.signature, of: $0.message) }
    }
    var digests: [UInt8] = []
    var raw: [UInt8] = []
    digests.reserveCapacity(SHA256Digest.size * signatures.count)
    raw.reserveCapacity(2 * key.curve.width * signatures.count)
    for item in signatures {
      digests += SHA256Digest.hash(item.message)
      raw += item.signature.raw
    }
    var results = [Int8](repeating: -1, count: signatures.count)
    copenssl_fixed_point_verify(tables, results.count, digests, SHA256Digest.size, raw, &results)
    return zip(signatures, results).map { item, result in isVerified(result, item.signature, digest: SHA256Digest.hash(item.message)) }
  }

  /// - Parameter result: the result of `copenssl_fixed_point_verify`: 1, 0 or -1.
  private func isVerified(_ result: Int8, _ signature: ECDSASignature, digest: @autoclosure () -> [UInt8]) -> Bool {
    switch result {
    case 1: true
    case 0: false
    // OpenSSL failed, which says nothing about the signature. So the signature is verified again without tables.
    default: key.verifies(signature, digest: digest())
    }
  }
}

extension PublicKey {
  /// Like `verifies(_:digest:)`, but faster for a P-384 key: it uses tables of the curve's generator, which all keys share.
  func verifiesP384(_ signature: ECDSASignature, digest: [UInt8]) -> Bool {
    guard curve == .p384, signature.curve == .p384, let point = encodedPoint else { return verifies(signature, digest: digest) }
    switch copenssl_p384_verify(point, point.count, digest, digest.count, signature.raw) {
    case 1: return true
    case 0: return false
    default: return verifies(signature, digest: digest)
    }
  }
}
