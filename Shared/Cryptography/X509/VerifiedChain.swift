/// A path leaf → intermediate → pinned root that passed all checks of ``CertificateChainVerifier`` (App Store Server API: x5c).
public struct VerifiedChain: Sendable {
  /// The leaf's P-256 key.
  public var key: PublicKey { chainKey.key }
  let chainKey: ChainKey
  public let leaf: Certificate
  public let intermediate: Certificate
  /// The pinned root, whatever the third entry of the `x5c` was.
  public let root: Certificate
  /// The first second at which all three certificates are valid, in seconds since 1970.
  public let notBefore: Int64
  /// The last second at which all three certificates are valid, in seconds since 1970.
  public let notAfter: Int64
  /// SHA-256 of the leaf's DER, its key in ``RevocationCache``.
  let leafDigest: [UInt8]
  /// SHA-256 of the intermediate's DER, its key in ``RevocationCache``.
  let intermediateDigest: [UInt8]

  init(key: PublicKey, leaf: Certificate, authority: CertificateAuthority) {
    chainKey = ChainKey(key)
    self.leaf = leaf
    intermediate = authority.intermediate
    root = authority.root
    notBefore = max(leaf.notBefore, authority.notBefore)
    notAfter = min(leaf.notAfter, authority.notAfter)
    leafDigest = SHA256Digest.hash(leaf.der)
    intermediateDigest = authority.digest
  }

  func isValid(at time: Int64) -> Bool { notBefore <= time && time <= notAfter }

  /// True if the leaf's private key signed the message with this SHA-256 digest (ECDSA).
  public func verifies(_ signature: ECDSASignature, digest: [UInt8]) -> Bool { chainKey.verifies(signature, digest: digest) }
}

/// A verified intermediate, and the pinned root that signed it.
struct CertificateAuthority: Sendable {
  let intermediate: Certificate
  let root: Certificate
  /// Nil for a key of a kind that ``Curve`` does not have; OpenSSL then verifies without tables.
  let key: ChainKey?
  /// SHA-256 of the intermediate's DER.
  let digest: [UInt8]
  let notBefore: Int64
  let notAfter: Int64

  init(intermediate: Certificate, key: ChainKey?, root: Certificate, digest: [UInt8]) {
    self.intermediate = intermediate
    self.key = key
    self.root = root
    self.digest = digest
    notBefore = max(intermediate.notBefore, root.notBefore)
    notAfter = min(intermediate.notAfter, root.notAfter)
  }

  func isValid(at time: Int64) -> Bool { notBefore <= time && time <= notAfter }
}
