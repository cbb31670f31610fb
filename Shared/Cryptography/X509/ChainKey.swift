import COpenSSL
import Synchronization

/// A key of a chain (a leaf's, an intermediate's or a root's) that gets precomputed tables (``PreparedPublicKey``) after it has verified
/// many signatures.
///
/// Apple signs almost all data of the App Store with one leaf's key at a time, and very few authorities sign the leaves. Computing the
/// tables pays off only after many signatures, so a rarely used key gets none. The results are the same with and without tables.
final class ChainKey: Sendable {
  /// The number of verifications after which tables are made. Without tables, these together take about as long as making the tables.
  static func usesBeforeTables(_ curve: Curve) -> Int { curve == .p384 ? 50 : 1000 }

  private struct State {
    var uses = 0
    var prepared: PreparedPublicKey?
  }

  let key: PublicKey
  private let state = Mutex(State())

  init(_ key: PublicKey) { self.key = key }

  /// True if there are tables.
  var isPrepared: Bool { state.withLock { $0.prepared != nil } }

  /// True if the key's private key signed the digest.
  func verifies(_ signature: ECDSASignature, digest: [UInt8]) -> Bool {
    use()?.verifies(signature, digest: digest) ?? key.verifies(signature, digest: digest)
  }

  /// True if the key signed the certificate.
  ///
  /// OpenSSL verifies again what the tables reject. It also verifies what the tables do not support: other signature algorithms and other
  /// encodings of the signature.
  func signed(_ certificate: Certificate) -> Bool {
    let prepared = use()
    if prepared != nil || key.curve == .p384, let signed = CertificateSignature(of: certificate, curve: key.curve),
      prepared?.verifies(signed.signature, digest: signed.digest) ?? key.verifiesP384(signed.signature, digest: signed.digest)
    {
      return true
    }
    return certificate.isSigned(by: key.raw)
  }

  /// Counts a verification. Returns the tables if there are any.
  private func use() -> PreparedPublicKey? {
    let (prepared, mustPrepare) = state.withLock { state in
      state.uses += 1
      return (state.prepared, state.uses == Self.usesBeforeTables(key.curve))
    }
    // In the background, so that no verification waits for the tables.
    if mustPrepare { Task.detached(priority: .background) { self.prepare() } }
    return prepared
  }

  func prepare() {
    let prepared = PreparedPublicKey(key)
    guard prepared.isPrepared else { return }
    state.withLock { $0.prepared = prepared }
  }
}
