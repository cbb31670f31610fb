import Synchronization

/// The key of a proven leaf, which learns: once much was checked with it, it gets tables of its own (``PreparedPublicKey``).
///
/// Almost all data of the App Store is signed with one leaf's key for two years. Tables take some hundredths of a second to make, and
/// save more than that after a thousand signatures; a leaf that is seen now and then gets none. The answers are the same.
final class ChainKey: Sendable {
  /// How many signatures are checked before tables are made.
  static let usesBeforeTables = 1000

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
    let (prepared, isTime) = state.withLock { state in
      state.uses += 1
      return (state.prepared, state.uses == Self.usesBeforeTables)
    }
    if let prepared { return prepared.verifies(signature, of: message) }
    // Nobody waits for them.
    if isTime { Task.detached(priority: .background) { self.prepare() } }
    return key.verifies(signature, of: message)
  }

  func prepare() {
    let prepared = PreparedPublicKey(key)
    guard prepared.isPrepared else { return }
    state.withLock { $0.prepared = prepared }
  }
}
