import COpenSSL
import Synchronization

/// A key of a chain (a leaf's, an intermediate's or a root's), which learns: once much was checked with it, it gets tables of its own
/// (``PreparedPublicKey``).
///
/// Almost all data of the App Store is signed with one leaf's key for two years, and all leaves by very few authorities. Tables take some
/// hundredths of a second to make, and save more than that after so many signatures; a key that is seen now and then gets none. The
/// answers are the same.
final class ChainKey: Sendable {
  /// How many signatures are checked before tables are made: as many as take longer than the tables would.
  static func usesBeforeTables(_ curve: Curve) -> Int { curve == .p384 ? 50 : 1000 }

  private struct State {
    var uses = 0
    var prepared: PreparedPublicKey?
  }

  let key: PublicKey
  private let state = Mutex(State())

  init(_ key: PublicKey) { self.key = key }

  /// Whether there are tables.
  var isPrepared: Bool { state.withLock { $0.prepared != nil } }

  func verifies(_ signature: ECDSASignature, of message: [UInt8]) -> Bool {
    use()?.verifies(signature, of: message) ?? key.verifies(signature, of: message)
  }

  /// Whether the key's private half signed the certificate.
  ///
  /// What the tables do not believe OpenSSL judges itself, as it does whatever they are not made for: another algorithm, a form of the
  /// signature that is not read here.
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
    // Nobody waits for them.
    if isTime { Task.detached(priority: .background) { self.prepare() } }
    return prepared
  }

  func prepare() {
    let prepared = PreparedPublicKey(key)
    guard prepared.isPrepared else { return }
    state.withLock { $0.prepared = prepared }
  }
}
