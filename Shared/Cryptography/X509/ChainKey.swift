import COpenSSL
import Synchronization

/// A key of a chain (a leaf's, an intermediate's or a root's) that gets precomputed tables (``PreparedPublicKey``) after it has verified
/// many signatures.
///
/// Almost all data of the App Store is signed with one leaf's key for two years, and all leaves by very few authorities. Tables take some
/// hundredths of a second to compute, and pay off after many signatures, so rarely used keys get none. The results are the same.
final class ChainKey: Sendable {
  /// The number of signatures before tables are made: as many as take longer than the tables.
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
  /// OpenSSL verifies again what the tables reject, and verifies whatever they do not support: another algorithm, or another form of the
  /// signature.
  func signed(_ certificate: Certificate) -> Bool {
    let prepared = use()
    if prepared != nil || key.curve == .p384, let signed = CertificateSignature(of: certificate, curve: key.curve),
      prepared?.verifies(signed.signature, digest: signed.digest) ?? key.verifiesP384(signed.signature, digest: signed.digest)
    {
      return true
    }
    return certificate.isSigned(by: key.raw)
  }

  private func use() -> PreparedPublicKey? {
    let (prepared, isTime) = state.withLock { state in
      state.uses += 1
      return (state.prepared, state.uses == Self.usesBeforeTables(key.curve))
    }
    // The tables are made in the background.
    if isTime { Task.detached(priority: .background) { self.prepare() } }
    return prepared
  }

  func prepare() {
    let prepared = PreparedPublicKey(key)
    guard prepared.isPrepared else { return }
    state.withLock { $0.prepared = prepared }
  }
}
